/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The size and the font of a plot. */

#include "unit.h"

#include <math.h>
#include <string.h>

#include "plot_page.h"

UNIT_TEST(sizes_are_in_inches_or_pixels)
{
	static const struct {
		const char *text;
		double width, height;
		bool inches;
	} cases[] = {
		{"900x600", 900, 600, false},
		{"900x600px", 900, 600, false},
		{"800", 800, 600, false},
		{"3.4in", 3.4, 2.55, true},
		{"3.4x2.5in", 3.4, 2.5, true},
		{"3.4inx2.5in", 3.4, 2.5, true},
		{"86mmx60mm", 86 / 25.4, 60 / 25.4, true},
		{"12cm", 12 / 2.54, 9 / 2.54, true},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct plot_page page = {.inches = !cases[i].inches};
		struct fault fault;

		assert_int_equal(plot_page_set_size(&page, cases[i].text, &fault), 0);
		assert_true(fabs(page.width - cases[i].width) < 1e-9);
		assert_true(fabs(page.height - cases[i].height) < 1e-9);
		assert_int_equal(page.inches, cases[i].inches);
	}
}

UNIT_TEST(other_sizes_are_refused)
{
	static const char *const bad[] = {"", "x", "3.4", "3.4ft", "3in x 2in", "0x10", "inf",
		"nan", "-3in", "3inx", "3inx200px", "900x600in", "3inx2inx1in", "31in", "1e9",
		"20000", "3inx0.5in"};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct plot_page page = {.width = 0};
		struct fault fault = {.text = ""};

		assert_int_equal(plot_page_set_size(&page, bad[i], &fault), -EINVAL);
		assert_non_null(strstr(fault.text, "--size "));
		assert_non_null(strstr(fault.text, "expected"));
	}
}

UNIT_TEST(a_font_is_a_name_a_size_or_both)
{
	struct plot_page page = {.width = 0};
	struct fault fault;

	assert_int_equal(plot_page_set_font(&page, "Times New Roman,9.5", &fault), 0);
	assert_string_equal(page.font, "Times New Roman");
	assert_true(page.font_size == 9.5);
	page = (struct plot_page){.width = 0};
	assert_int_equal(plot_page_set_font(&page, ",7", &fault), 0);
	assert_string_equal(page.font, "");
	assert_true(page.font_size == 7);
	page = (struct plot_page){.width = 0};
	assert_int_equal(plot_page_set_font(&page, "Times", &fault), 0);
	assert_true(page.font_size == 0);
}

UNIT_TEST(other_fonts_are_refused)
{
	static const char *const bad[] = {"", "Times,", "Times,x", "Times,9x", "Times,0",
		"Times,900", "Ti'mes", "Ti\nmes", "\"Times\"", "Times,nan",
		"a name that is so long that no font has it, whatever the foundry was"};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct plot_page page = {.width = 0};
		struct fault fault = {.text = ""};

		assert_int_equal(plot_page_set_font(&page, bad[i], &fault), -EINVAL);
		assert_non_null(strstr(fault.text, "--font"));
	}
}

/* The first line that sets the terminal. */
static void terminal_of(const struct plot_page *page, enum plot_format format, char text[512])
{
	FILE *out = fmemopen(text, 512, "w");

	assert_non_null(out);
	plot_page_write(page, format, "out", out);
	assert_int_equal(fclose(out), 0);
}

UNIT_TEST(a_page_is_equally_large_in_all_formats)
{
	struct plot_page page = {.width = 3.4, .height = 2.5, .inches = true};
	char text[512];

	terminal_of(&page, PLOT_PNG, text);
	assert_non_null(strstr(text, "pngcairo size 1020,750 "));
	terminal_of(&page, PLOT_SVG, text);
	assert_non_null(strstr(text, "svg size 326,240 "));
	terminal_of(&page, PLOT_PDF, text);
	assert_non_null(strstr(text, "pdfcairo size 3.4in,2.5in "));
	page = (struct plot_page){.width = 1200, .height = 600};
	terminal_of(&page, PLOT_PNG, text);
	assert_non_null(strstr(text, "pngcairo size 1200,600 "));
	terminal_of(&page, PLOT_PDF, text);
	assert_non_null(strstr(text, "pdfcairo size 10in,5in "));
}

UNIT_MAIN(NULL, NULL)
