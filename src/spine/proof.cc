#include "spine/proof.h"

#include <fmt/format.h>

#include <bit>

namespace ace::spine {
namespace {

std::string lines_of(const std::vector<Digest>& digests) {
  std::string text;
  for (const Digest& digest : digests) text += to_base64(view(digest)) + "\n";
  return text;
}

}  // namespace

Result<LogTree> LogTree::read(Disk& disk, const std::function<Result<void>(const Frame&)>& visit) {
  const Result<Pruned> pruned = pruned_of(disk);
  if (!pruned) return Error(pruned.error());
  LogTree tree;
  std::uint64_t at = 0;
  for (const Digest& node : pruned->rest.tree.nodes()) {  // from record 0 on, each as large as its place allows
    const std::uint64_t size = perfect_size(at, pruned->rest.end);
    tree.pruned_[{at, at + size}] = node;
    at += size;
  }
  Result<LogSummary> read = read_log(disk, {}, [&](const Frame& frame) -> Result<void> {
    tree.leaves_.push_back(leaf_hash(tree.sha_, frame.bytes));
    return visit(frame);
  });
  if (!read) return std::move(read).error();
  tree.summary_ = *std::move(read);
  return tree;
}

Result<Digest> LogTree::subtree(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end || end > summary_.next) return Error(Errc::out_of_range, "the log has no such records");
  if (const auto node = pruned_.find({begin, end}); node != pruned_.end()) return node->second;
  if (end - begin == 1) {
    if (begin >= summary_.first) return leaves_[begin - summary_.first];
    return Error(Errc::out_of_range,
                 fmt::format("record {} was pruned, and only proofs about records from {} on can do without it", begin,
                             summary_.first));
  }
  const std::uint64_t middle = begin + std::bit_floor(end - begin - 1);
  Result<Digest> left = subtree(begin, middle);
  if (!left) return left;
  Result<Digest> right = subtree(middle, end);
  if (!right) return right;
  return node_hash(sha_, *left, *right);
}

Result<void> LogTree::agrees(const Checkpoint& checkpoint) {
  if (checkpoint.origin != summary_.origin)
    return Error(Errc::check_failed, fmt::format("the checkpoint is of another log, {}; this one is {}",
                                                 checkpoint.origin, summary_.origin));
  if (checkpoint.size > summary_.next)
    return Error(Errc::check_failed, fmt::format("rollback_detected: the log holds {} records, the checkpoint says {}",
                                                 summary_.next, checkpoint.size));
  const Result<Digest> root = checkpoint.size == 0 ? Result<Digest>(sha_({})) : subtree(0, checkpoint.size);
  if (!root) return Error(root.error());
  if (*root != checkpoint.root)
    return Error(Errc::check_failed,
                 fmt::format("the log is another one than the checkpoint of {} records says: its root differs",
                             checkpoint.size));
  return {};
}

Result<std::string> prove_inclusion(LogTree& tree, std::uint64_t index, std::string_view record,
                                    const std::string& note) {
  Sha256 sha;
  const Result<Checkpoint> checkpoint = unverified_checkpoint(note);
  if (!checkpoint) return Error(checkpoint.error());
  if (Result<void> agreed = tree.agrees(*checkpoint); !agreed) return std::move(agreed).error();
  if (index >= checkpoint->size)
    return Error(Errc::bad_input, fmt::format("the checkpoint is over records 0 to {}, and record {} came later",
                                              static_cast<std::int64_t>(checkpoint->size) - 1, index));
  const Result<Digest> leaf = tree.subtree(index, index + 1);
  if (!leaf) return Error(leaf.error());
  if (*leaf != leaf_hash(sha, record))
    return Error(Errc::check_failed, fmt::format("record {} of the log is another one", index));
  const Result<std::vector<Digest>> proof = inclusion_proof(tree, index, checkpoint->size);
  if (!proof) return Error(proof.error());
  return fmt::format("c2sp.org/tlog-proof@v1\nextra {}\nindex {}\n{}\n{}", to_base64(record), index, lines_of(*proof),
                     note);
}

Result<std::string> prove_consistency(LogTree& tree, const std::string& older, const std::string& newer) {
  const Result<Checkpoint> from = unverified_checkpoint(older), to = unverified_checkpoint(newer);
  if (!from || !to) return Error(from ? to.error() : from.error());
  if (from->size > to->size)
    return Error(Errc::bad_input,
                 fmt::format("the older checkpoint is over {} records, the newer one over {}; are they "
                             "the wrong way round?",
                             from->size, to->size));
  for (const Checkpoint& checkpoint : {*from, *to})
    if (Result<void> agreed = tree.agrees(checkpoint); !agreed) return std::move(agreed).error();
  const Result<std::vector<Digest>> proof = consistency_proof(tree, from->size, to->size);
  if (!proof) return Error(proof.error());
  return fmt::format("old {}\n{}\n{}", from->size, lines_of(*proof), newer);
}

}  // namespace ace::spine
