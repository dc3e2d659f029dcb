/// A proof comes from whoever wants to be believed. What is accepted is true of the log that the key signed, and the
/// spine's own verifiers accept it too; bytes of any kind are read without harm. The input is a list of edits to a
/// sound proof, or the proof itself.
#include <cstring>

#include "verify/log_testing.h"

namespace {

using namespace ace;

struct Sound {
  verify::Written log;
  std::vector<std::string> records, notes, proofs;  ///< of all: by number, by size, one of each kind

  Sound() {
    Rng rng(12, "fuzz");
    log = verify::written_log(rng, 60);
    spine::MemoryDisk disk;
    for (const auto& [name, bytes] : log.files) disk.put(name, bytes);
    spine::LogTree tree = *spine::LogTree::read(disk, [&](const spine::Frame& frame) -> Result<void> {
      records.emplace_back(frame.bytes);
      if (frame.type == spine::RecordType::checkpoint) notes.emplace_back(frame.payload);
      return {};
    });
    for (const std::uint64_t index : {0U, 5U, 31U}) {
      proofs.push_back(*spine::prove_inclusion(tree, index, records[index], notes.back()));
      proofs.push_back(*spine::prove_consistency(tree, notes[index % 4], notes.back()));
    }
  }
};

std::string edited(std::string bytes, const std::uint8_t* data, std::size_t size) {
  for (std::size_t at = 0; at + 4 <= size; at += 4) {
    std::uint16_t place = 0;
    std::memcpy(&place, data + at + 1, sizeof place);
    const std::size_t from = place % (bytes.size() + 1);
    switch (data[at] % 4) {
      case 0:
        if (from < bytes.size()) bytes[from] = static_cast<char>(data[at + 3]);
        break;
      case 1:
        bytes.insert(from, 1, static_cast<char>(data[at + 3]));
        break;
      case 2:
        bytes.erase(from, data[at + 3]);
        break;
      default:
        bytes.insert(from, bytes.substr(data[at + 3] % (bytes.size() + 1), 45));  // about a line of digits
    }
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sound sound;
  if (size < 2) return 0;
  const std::size_t which = data[0] % (sound.proofs.size() + 1);
  const std::string bytes = which == sound.proofs.size()
                                ? std::string(reinterpret_cast<const char*>(data + 2), size - 2)
                                : edited(sound.proofs[which], data + 2, size - 2);
  const verify::Held older{"older", sound.notes[data[1] % sound.notes.size()]};
  const auto [proven, difference] = verify::check_proof("proof", bytes, sound.log.key, older);
  if (difference) {
    ACE_CHECK(difference->file != "proof" || difference->offset <= bytes.size(), "a difference outside of its file");
    return 0;
  }
  ACE_CHECK(proven.origin == "acme/spine" && proven.size <= sound.log.next, "a checkpoint that nobody signed");
  if (proven.what == verify::Proven::What::record) {
    ACE_CHECK(proven.index < sound.records.size() &&
                  sound.records[proven.index].substr(spine::kFrameHeader) == proven.payload,
              "a record that is not in the log");
  } else {
    ACE_CHECK(proven.index == spine::unverified_checkpoint(older.note)->size, "a log that is not continued");
  }
  return 0;
}
