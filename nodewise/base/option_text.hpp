// How texts name options, so that every front end can write them as its users do.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace nodewise {

/// Errors, diagnoses, findings and help of the library name options by their fields' names in
/// backquotes, some with a value behind a space: "take `solver gmres`, or a larger `restart`".
/// Returns the text with each of these replaced by write(name, value), the value being empty where
/// there is none. What is in backquotes and does not begin with a snake_case name stays as it is,
/// and so does what `write` returns nothing for.
std::string rewrite_options(
    std::string_view text,
    const std::function<std::string(std::string_view name, std::string_view value)>& write);

/// The same for errors that begin with "option max_iterations: ": returns the text with "option"
/// and the name replaced by write(name), but where that is empty.
std::string rewrite_option_names(std::string_view text,
                                 const std::function<std::string(std::string_view name)>& write);

}  // namespace nodewise
