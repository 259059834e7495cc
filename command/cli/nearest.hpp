// The name that was most likely meant by one that is not there.
// Thread safety: any thread.
//
//   list_of("stok", {"mail", "stock"}, "mail, stock")
//   "did you mean 'stock'? There are mail, stock"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace command {

/// The nearest of the names: a third of its letters, three at most, may differ. Empty: none is
/// near. Lifetime: of the names.
[[nodiscard]] std::string_view nearest(std::string_view given, std::span<std::string const> names);

/// "there are LIST", after the nearest of the names where one is near.
[[nodiscard]] std::string list_of(std::string_view given, std::span<std::string const> names,
                                  std::string_view list);

/// "; did you mean 'NAME'?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view given, std::span<std::string const> names);

}  // namespace command
