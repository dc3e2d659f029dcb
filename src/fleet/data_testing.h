#pragma once
/// Real data files for the tests that need them: whole, and unpacked where the name ends in .gz.
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

namespace ace {

/// @param name below the data folder, without quotes  @return empty, and a failed test, if it cannot be read
inline std::string data_text(const std::string& name) {
  const std::string path = std::string(ACE_DATA "/") + name;
  const bool packed = name.ends_with(".gz");
  std::FILE* file = packed ? popen(("gzip -dc '" + path + "'").c_str(), "r") : std::fopen(path.c_str(), "rb");
  std::string text;
  if (file != nullptr) {
    char buffer[1 << 16];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
    packed ? pclose(file) : std::fclose(file);
  }
  EXPECT_FALSE(text.empty()) << path;
  return text;
}

}  // namespace ace
