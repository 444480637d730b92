"""Describes a CSV file: python3 describe.py FILE [COLUMN ...]. Standard library only; it reads the file line by line."""

import csv
import sys
from collections import Counter, defaultdict

GROUPS_SHOWN = 10
VALUES_KEPT = 1_000
DELIMITERS = ",;\t|"
csv.field_size_limit(1 << 20)


def number(text):
    """A number as people write it, or None."""
    plain = text.strip().replace("\u00a0", "").replace(" ", "").rstrip("%€$£").lstrip("€$£")
    if "," in plain and "." in plain:
        plain = (
            plain.replace(",", "") if plain.rfind(".") > plain.rfind(",") else plain.replace(".", "").replace(",", ".")
        )
    elif plain.count(",") == 1 and len(plain.split(",")[1]) != 3:
        plain = plain.replace(",", ".")
    else:
        plain = plain.replace(",", "")
    try:
        return float(plain)
    except ValueError:
        return None


class Column:
    def __init__(self):
        self.filled = self.empty = self.numbers = 0
        self.sum, self.least, self.most = 0.0, None, None
        self.values = Counter()

    def add(self, text):
        if not text.strip():
            self.empty += 1
            return
        self.filled += 1
        if len(self.values) < VALUES_KEPT or text in self.values:
            self.values[text] += 1
        found = number(text)
        if found is not None and found == found:
            self.numbers += 1
            self.sum += found
            self.least = found if self.least is None else min(self.least, found)
            self.most = found if self.most is None else max(self.most, found)

    def told(self):
        if self.filled and self.numbers >= 0.8 * self.filled:
            text = f"numbers; sum {self.sum:,.2f}, average {self.sum / self.numbers:,.2f}, from {self.least:,.2f} to {self.most:,.2f}"
            odd = self.filled - self.numbers
            return text + (f"; {odd} no number" if odd else "")
        most = ", ".join(f"{value[:40]} ({count})" for value, count in self.values.most_common(3))
        kinds = f"{len(self.values)}{' or more' if len(self.values) >= VALUES_KEPT else ''} different"
        return f"texts; {kinds}; most often {most}" if self.filled else "nothing"


def describe(path, groups):
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
        first = file.readline(64 * 1024)
        file.seek(0)
        delimiter = max(DELIMITERS, key=lambda one: len(next(csv.reader([first], delimiter=one), [])))
        reader = csv.reader(file, delimiter=delimiter)
        names = next(reader, [])
        columns = [Column() for _ in names]
        grouped = {name: defaultdict(lambda: [0, defaultdict(float)]) for name in groups if name in names}
        rows = uneven = 0
        for row in reader:
            if not row:
                continue
            rows += 1
            uneven += len(row) != len(names)
            for column, text in zip(columns, row):
                column.add(text)
            for name, found in grouped.items():
                place = names.index(name)
                one = found[row[place].strip() if place < len(row) else ""]
                one[0] += 1
                for other, text in zip(names, row):
                    if other != name and (value := number(text)) is not None:
                        one[1][other] += value
    print(f"{path}: {rows} rows, {len(names)} columns, parted by {delimiter!r}")
    for name, column in zip(names, columns):
        gaps = f"; {column.empty} empty" if column.empty else ""
        print(f"- {name}: {column.told()}{gaps}")
    if uneven:
        print(f"{uneven} rows have more or fewer cells than the first line.")
    for name in groups:
        if name not in names:
            print(f"There is no column {name!r}. There are: {', '.join(names)}")
    for name, found in grouped.items():
        print(f"\nBy {name}:")
        sums = [
            other for other, column in zip(names, columns) if column.filled and column.numbers >= 0.8 * column.filled
        ]
        for value, (count, total) in sorted(found.items(), key=lambda one: -one[1][0])[:GROUPS_SHOWN]:
            told = "".join(f", {other} {total[other]:,.2f}" for other in sums if other != name)
            print(f"- {value or '(empty)'}: {count} rows{told}")
        if len(found) > GROUPS_SHOWN:
            print(f"- and {len(found) - GROUPS_SHOWN} more")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: describe.py FILE [COLUMN ...]")
    try:
        describe(sys.argv[1], sys.argv[2:])
    except OSError as error:
        sys.exit(f"{sys.argv[1]} can't be read: {error.strerror}")
