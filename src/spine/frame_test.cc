#include "spine/frame.h"

#include <gtest/gtest.h>

#include "core/testing.h"
#include "spine/checkpoint.h"
#include "spine/crc32c.h"

namespace ace::spine {
namespace {

TEST(Crc32c, is_that_of_its_standard) {
  // RFC 3720, B.4, and the usual check value.
  EXPECT_EQ(crc32c("123456789"), 0xe306'9283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a91'36aaU);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8'ab43U);
  std::string up;
  for (int i = 0; i < 32; ++i) up += static_cast<char>(i);
  EXPECT_EQ(crc32c(up), 0x46dd'794eU);
  for (std::size_t cut = 0; cut <= up.size(); ++cut)
    EXPECT_EQ(crc32c(up.substr(cut), crc32c(up.substr(0, cut))), 0x46dd'794eU);
}

Frame sample(std::string_view payload) {
  Frame f;
  f.first_of_batch = true;
  f.durability = Durability::strict;
  f.sequence = 77;
  f.address = {3, 512};
  f.previous = 0x0123'4567'89ab'cdefU;
  f.payload = payload;
  return f;
}

TEST(Frame, comes_back_as_it_was_written) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string payload(size, 'x');
    std::string bytes;
    append_frame(bytes, sample(payload));
    EXPECT_EQ(bytes.size(), frame_size(size));
    bytes += "what follows";  // the frame borrows from it
    const Result<Frame> f = frame_from(bytes, {3, 512});
    ASSERT_TRUE(f) << f.error().what();
    EXPECT_EQ(f->payload, payload);
    EXPECT_EQ(f->sequence, 77U);
    EXPECT_EQ(f->previous, 0x0123'4567'89ab'cdefU);
    EXPECT_TRUE(f->first_of_batch);
    EXPECT_EQ(f->durability, Durability::strict);
  }
}

TEST(Frame, refuses_every_flipped_bit_every_cut_and_every_other_place) {
  std::string bytes;
  append_frame(bytes, sample("a payload of some bytes"));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(frame_from(flipped, {3, 512})) << "bit " << bit;
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(frame_from(std::string_view(bytes).substr(0, size), {3, 512})) << size << " bytes";
  const Result<Frame> stale = frame_from(bytes, {4, 512});
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().what(),
            "the record at segment 4, offset 512 was written for segment 3, offset 512: a misplaced or stale write");
}

TEST(Checkpoint, is_believed_only_with_the_key_that_signed_it) {
  // RFC 8032, 7.1, test 1: the public half of this seed.
  std::string seed;
  for (const int byte :
       {0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4,
        0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60})
    seed += static_cast<char>(byte);
  const Signer signer = *Signer::from_seed(seed);
  const PublicKey key = signer.public_key();
  EXPECT_EQ(to_hex(std::string_view(reinterpret_cast<const char*>(key.data()), key.size())),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(Signer::from_pem(signer.to_pem())->public_key(), key);

  Checkpoint checkpoint{"acme/spine", 12345, {}, {}, instant(1'700'000'000'000'000'000)};
  checkpoint.root.fill(7);
  checkpoint.chain.fill(9);
  const std::string note = to_note(checkpoint, signer);
  EXPECT_EQ(*checkpoint_from(note, key), checkpoint);
  EXPECT_EQ(*unverified_checkpoint(note), checkpoint);
  const Result<Checkpoint> other = checkpoint_from(note, Signer::generate().public_key());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Errc::check_failed);
  const std::string cosigned = note + "\xe2\x80\x94 witness.example AAAAAAA=\n";
  EXPECT_TRUE(checkpoint_from(cosigned, key)) << "a witness adds a line";
  for (std::size_t bit = 0; bit < note.size() * 8; ++bit) {
    std::string flipped = note;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(checkpoint_from(flipped, key)) << "bit " << bit;
  }
}

}  // namespace
}  // namespace ace::spine
