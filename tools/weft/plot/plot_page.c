/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PNG_PER_INCH 300.0
#define SVG_PER_INCH 96.0
#define PDF_PER_INCH 120.0 /* 900 by 600 pixels are 7.5 by 5 inches */
#define HEIGHT_PX    600.0 /* of a page without a size, for so many entries of a legend */
#define ENTRIES_MAX  22u
#define ENTRY_PX     22.0
#define NARROW_IN    5.0
#define NARROW_PX    600.0

enum plot_format plot_format_find(const char *path)
{
	static const char *const ends[] = {".png", ".svg", ".pdf", ".gp"};
	size_t length = strlen(path);
	unsigned format = 0;

	while (format < PLOT_FORMAT_COUNT &&
		(length <= strlen(ends[format]) ||
			strcmp(path + length - strlen(ends[format]), ends[format]) != 0))
		format++;
	return (enum plot_format)format;
}

/* A number with at most one unit, which stays as it is if there is none. Returns the rest. */
static const char *take_length(const char *text, double *value, double *per_inch)
{
	static const struct {
		const char *name;
		double per_inch;
	} units[] = {{"px", 0}, {"in", 1}, {"cm", 2.54}, {"mm", 25.4}};
	char *rest;

	if (text[0] < '1' || text[0] > '9')
		return NULL;
	*value = strtod(text, &rest);
	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strncmp(rest, units[i].name, 2) == 0) {
			*per_inch = units[i].per_inch;
			return rest + 2;
		}
	return rest;
}

static int refuse_size(const char *text, const char *expected, struct fault *fault)
{
	return fault_set(fault, EINVAL, "--size %s: expected %s", text, expected);
}

int plot_page_set_size(struct plot_page *page, const char *text, struct fault *fault)
{
	double width = 0, height = 0, of_width = -1, of_height = -1, min, max;
	const char *at = take_length(text, &width, &of_width);

	if (at != NULL && *at == 'x')
		at = take_length(at + 1, &height, &of_height);
	else
		height = 0.75 * width;
	if (of_width < 0)
		of_width = of_height < 0 ? 0 : of_height;
	if (of_height < 0)
		of_height = of_width;
	if (at == NULL || *at != '\0' || (of_width == 0) != (of_height == 0))
		return refuse_size(text,
			"WIDTH or WIDTHxHEIGHT with px, in, cm or mm, such as 3.4in, 3.4x2.5in or "
			"900x600",
			fault);
	page->inches = of_width > 0;
	page->width = page->inches ? width / of_width : width;
	page->height = page->inches ? height / of_height : height;
	min = page->inches ? 1.5 : 150;
	max = page->inches ? 30 : 10000;
	if (!(page->width >= min && page->height >= min * 2 / 3 && page->width <= max &&
		    page->height <= max))
		return refuse_size(text,
			"1.5 to 30 inches or 150 to 10,000 pixels, two thirds as high", fault);
	return 0;
}

int plot_page_set_font(struct plot_page *page, const char *text, struct fault *fault)
{
	size_t length = strcspn(text, ",");
	char *end = NULL;

	if (length >= sizeof(page->font) || (length == 0 && text[0] == '\0'))
		return fault_set(
			fault, EINVAL, "--font %s: expected NAME, NAME,POINTS or ,POINTS", text);
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '\'' || text[i] == '"')
			return fault_set(fault, EINVAL,
				"--font: a name without quotes and control characters");
	if (text[length] == ',') {
		page->font_size = strtod(text + length + 1, &end);
		if (end == text + length + 1 || *end != '\0' ||
			!(page->font_size >= 3 && page->font_size <= 72))
			return fault_set(fault, EINVAL, "--font %s: expected 3 to 72 points", text);
	}
	memcpy(page->font, text, length);
	page->font[length] = '\0';
	return 0;
}

bool plot_page_is_narrow(const struct plot_page *page)
{
	return page->width > 0 && page->width < (page->inches ? NARROW_IN : NARROW_PX);
}

/* A quote inside is doubled, nothing else is special. */
static void write_doubled(const char *text, const char *doubled, FILE *out)
{
	fputc('\'', out);
	for (; *text != '\0'; text++) {
		if (strchr(doubled, *text) != NULL)
			fputc(*text, out);
		fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
	}
	fputc('\'', out);
}

void plot_write_quoted(const char *text, FILE *out)
{
	write_doubled(text, "'", out);
}

void plot_write_tick(const char *text, double at, FILE *out)
{
	write_doubled(text, "'%", out);
	fprintf(out, " %.9g", at);
}

/* "sans,12" */
static void write_font(const struct plot_page *page, double points, FILE *out)
{
	char font[96];

	snprintf(font, sizeof(font), "%s,%.4g", page->font[0] != '\0' ? page->font : "sans",
		page->font_size > 0 ? page->font_size : points);
	fputs(" font ", out);
	plot_write_quoted(font, out);
}

/* Of a page without a size: as high as the legend beside the frame. */
static double default_height(const struct plot_page *page)
{
	return page->entries > ENTRIES_MAX ? HEIGHT_PX + ENTRY_PX * (page->entries - ENTRIES_MAX)
					   : HEIGHT_PX;
}

static void write_pixels(const struct plot_page *page, double per_inch, FILE *out)
{
	double scale = page->inches ? per_inch : 1;

	fprintf(out, " size %.0f,%.0f", page->width > 0 ? page->width * scale : 900,
		page->width > 0 ? page->height * scale : default_height(page));
}

/* Text and lines of a PNG with many pixels per inch are as large as on other pages. */
static void write_png_scale(const struct plot_page *page, FILE *out)
{
	double scale = PNG_PER_INCH / 72;

	if (page->inches)
		fprintf(out, " fontscale %.4g linewidth %.4g pointscale %.4g", scale * 0.75,
			scale * 0.55, scale * 0.55);
}

static void write_inches(const struct plot_page *page, FILE *out)
{
	double scale = page->inches ? 1 : PDF_PER_INCH;

	fprintf(out, " size %.4gin,%.4gin", page->width > 0 ? page->width / scale : 7.5,
		page->width > 0 ? page->height / scale : default_height(page) / PDF_PER_INCH);
}

void plot_page_write(
	const struct plot_page *page, enum plot_format format, const char *output, FILE *out)
{
	double points = plot_page_is_narrow(page) ? 8 : 12;

	fputs("set encoding utf8\n", out);
	if (output == NULL)
		return;
	if (format == PLOT_PNG) {
		fputs("set terminal pngcairo", out);
		write_pixels(page, PNG_PER_INCH, out);
		write_font(page, points, out);
		write_png_scale(page, out);
		fputs(" noenhanced", out);
	} else if (format == PLOT_SVG) {
		fputs("set terminal svg", out);
		write_pixels(page, SVG_PER_INCH, out);
		write_font(page, points * 7 / 6, out);
		fputs(" noenhanced background '#ffffff'", out);
	} else {
		fputs("set terminal pdfcairo", out);
		write_inches(page, out);
		write_font(page, points, out);
		fputs(" noenhanced", out);
	}
	fputs("\nset output ", out);
	plot_write_quoted(output, out);
	fputc('\n', out);
}
