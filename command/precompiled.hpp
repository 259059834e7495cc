#pragma once
// What nearly every source of the command reads first, compiled once.
#include <CLI/CLI.hpp>
#include <daybook/daybook.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
