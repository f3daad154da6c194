// Options by name, and what they say of themselves.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <string>

#include "nodewise/base/option_set.hpp"

#include "bindings.hpp"

namespace nodewise::python {

/// Names of options and values as text.
using NamedValues = std::vector<NamedValue>;

/// What each option of a configuration, or of any method that may be chosen in it, says of itself:
/// name, type, meaning, range, default and the methods that have it.
inline nb::list table_of(const OptionSet& defaults) {
  nb::list table;
  for (const KnownField& field : known_fields(defaults)) {
    nb::dict entry;
    entry["name"] = field.info.name;
    entry["type"] = field.info.type;
    entry["meaning"] = field.info.meaning;
    entry["range"] = field.info.range();
    entry["default"] = field.standard;
    entry["owners"] = field.owners_text();
    entry["needs"] = field.info.needs;
    entry["common"] = field.info.is_common;
    table.append(entry);
  }
  return table;
}

}  // namespace nodewise::python
