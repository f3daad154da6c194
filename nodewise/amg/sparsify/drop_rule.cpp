#include "nodewise/amg/sparsify/drop_rule.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "nodewise/base/by_level.hpp"

namespace nodewise::amg::sparsify {

template <class O>
Field<O> field_by_level(const std::string& name, std::vector<double> O::*member,
                        const std::string& meaning) {
  return {{name, "list", meaning, "in [0, 1], separated by commas"},
          [member](const O& o) { return fmt::format("{}", fmt::join(o.*member, ",")); },
          [name, member](O& o, std::string_view text) {
            std::vector<double> numbers;
            for (const std::string_view word : detail::split_list(text)) {
              numbers.push_back(detail::parse_number(name, word, 0, 1));
            }
            if (numbers.empty()) {
              throw Error(ErrorCode::invalid_argument, "option " + name + ": no number is given");
            }
            o.*member = std::move(numbers);
          }};
}

double number_of_level(std::span<const double> list, int level) {
  if (level == 0) return 0;
  return list[std::min(static_cast<std::size_t>(level - 1), list.size() - 1)];
}

template Field<DropEntriesOptions> field_by_level(const std::string&,
                                                  std::vector<double> DropEntriesOptions::*,
                                                  const std::string&);
template Field<DropMessagesOptions> field_by_level(const std::string&,
                                                   std::vector<double> DropMessagesOptions::*,
                                                   const std::string&);

}  // namespace nodewise::amg::sparsify
