# SPDX-License-Identifier: LGPL-2.1-or-later
"""A bar for each figure of a report, as SVG."""

from html import escape

from report import Report

_ROW, _NAMES, _BARS, _VALUES, _TOP = 22, 430, 420, 110, 54  # pixels


def svg(title: str, report: Report) -> str:
    rows = [(name, value) for name, value in report.figures if value is not None]
    most = max((value for _, value in rows), default=0) or 1
    width, height = _NAMES + _BARS + _VALUES, _TOP + _ROW * len(rows) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
           'font-size="13">', f'<rect width="{width}" height="{height}" fill="#fff"/>',
           f'<text x="12" y="22" font-size="16">{escape(title)}</text>',
           f'<text x="12" y="42" fill="#666">{escape(report.what)}</text>']
    for number, (name, value) in enumerate(rows):
        y = _TOP + number * _ROW
        ours = "dxva" in name
        length = max(1.0, max(value, 0) / most * _BARS)
        out += [f'<text x="{_NAMES - 8}" y="{y + 15}" text-anchor="end">{escape(name)}</text>',
                f'<rect x="{_NAMES}" y="{y + 3}" width="{length:.1f}" height="{_ROW - 6}" '
                f'fill="{"#2b6cb0" if ours else "#a0aec0"}"/>',
                f'<text x="{_NAMES + length + 6:.1f}" y="{y + 15}">{value:.3g} {escape(report.unit)}</text>']
    return "\n".join([*out, "</svg>", ""])
