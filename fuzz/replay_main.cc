/// Stands in for libFuzzer where the compiler has none: runs one fuzz target over saved inputs, so that it is also a
/// plain test. Arguments are files or folders (searched in depth, in order of name); one that is missing brings no
/// inputs. The empty input and a few byte patterns always run, so that a target without a corpus is exercised too.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

void run(std::string_view input) {
  // A copy of exactly this size on the heap, so that a sanitizer sees a read past the end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::vector<std::string> patterns() {
  using namespace std::string_literals;
  std::vector<std::string> all = {""s,
                                  "\0"s,
                                  "\n"s,
                                  "\xff"s,
                                  "0"s,
                                  "\xef\xbb\xbf"s,
                                  "\"\n,\r\n\""s,
                                  "{}"s,
                                  "[]\n"s,
                                  "a: b\n"s,
                                  "a,b\n1,2\n"s,
                                  "\x1f\x8b"s,
                                  "-1e999"s,
                                  "\xc3\x28\xed\xa0\x80"s,
                                  "{\"a\":[1,2,{\"b\":null}]}\n"s};
  std::string ascending(256, '\0');
  for (std::size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<char>(static_cast<unsigned char>(i));
  all.push_back(ascending);
  for (const char filler : {'\0', 'A', '[', '"', '\xff'}) all.emplace_back(4096, filler);
  std::uint64_t state = 0x9e37'79b9'7f4a'7c15ULL;  // xorshift64: noise that is the same in every run
  for (const std::size_t size : {7U, 64U, 513U, 8192U}) {
    std::string noise(size, '\0');
    for (char& byte : noise) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      byte = static_cast<char>(static_cast<unsigned char>(state >> 56));
    }
    all.push_back(noise);
  }
  return all;
}

std::vector<fs::path> files_under(const fs::path& path) {
  std::vector<fs::path> files;
  std::error_code error;
  if (fs::is_regular_file(path, error)) files.push_back(path);
  if (!fs::is_directory(path, error)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t built_in = 0;
  for (const std::string& pattern : patterns()) {
    run(pattern);
    ++built_in;
  }
  std::size_t saved = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& file : files_under(argv[i])) {
      std::ifstream in(file, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      if (!in.good() && !in.eof()) {
        std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
        return 3;
      }
      std::fprintf(stderr, "replaying %s\n", file.c_str());  // the last line before a crash names its input
      run(bytes);
      ++saved;
    }
  }
  std::printf("replayed %zu inputs: %zu saved, %zu built in\n", saved + built_in, saved, built_in);
  return EXIT_SUCCESS;
}
