#pragma once
// The headers that nearly every source of the command includes, compiled once.
#include <CLI/CLI.hpp>
#include <daybook/daybook.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
