#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "spine/checkpoint.h"

namespace ace::spine {
namespace {

const unsigned char* raw(std::string_view bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

}  // namespace

struct Signer::State {
  EVP_PKEY* key = nullptr;
  explicit State(EVP_PKEY* owned) : key(owned) {}
  ~State() { EVP_PKEY_free(key); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Signer::Signer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Signer::Signer(Signer&&) noexcept = default;
Signer& Signer::operator=(Signer&&) noexcept = default;
Signer::~Signer() = default;

Result<Signer> Signer::from_seed(std::string_view seed) {
  EVP_PKEY* key =
      seed.size() == 32 ? EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, raw(seed), seed.size()) : nullptr;
  if (key == nullptr) return Error(Errc::bad_input, "a signing key: expected 32 bytes");
  return Signer(std::make_unique<State>(key));
}

Signer Signer::generate() {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  ACE_CHECK(key != nullptr, "OpenSSL made no Ed25519 key");
  return Signer(std::make_unique<State>(key));
}

Result<Signer> Signer::from_pem(std::string_view pem) {
  BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  EVP_PKEY* key = bio == nullptr ? nullptr : PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  if (key == nullptr || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519) {
    EVP_PKEY_free(key);
    return Error(Errc::bad_input, "a signing key: expected an Ed25519 key in PEM (PKCS #8)");
  }
  return Signer(std::make_unique<State>(key));
}

std::string Signer::to_pem() const {
  BIO* bio = BIO_new(BIO_s_mem());
  ACE_CHECK(
      bio != nullptr && PEM_write_bio_PKCS8PrivateKey(bio, state_->key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
      "OpenSSL did not write a key");
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<std::size_t>(length));
  OPENSSL_cleanse(data, static_cast<std::size_t>(length));
  BIO_free(bio);
  return pem;
}

PublicKey Signer::public_key() const {
  PublicKey key{};
  std::size_t length = key.size();
  ACE_CHECK(EVP_PKEY_get_raw_public_key(state_->key, key.data(), &length) == 1 && length == key.size(),
            "an Ed25519 key has a public half");
  return key;
}

std::string Signer::sign(std::string_view text) const {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  std::string signature(64, '\0');
  std::size_t length = signature.size();
  const bool ok =
      context != nullptr && EVP_DigestSignInit(context, nullptr, nullptr, nullptr, state_->key) == 1 &&
      EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &length, raw(text), text.size()) == 1;
  EVP_MD_CTX_free(context);
  ACE_CHECK(ok && length == signature.size(), "signing failed");
  return signature;
}

bool verify_signature(const PublicKey& key, std::string_view text, std::string_view signature) {
  EVP_PKEY* half = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size());
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const bool ok = half != nullptr && context != nullptr &&
                  EVP_DigestVerifyInit(context, nullptr, nullptr, nullptr, half) == 1 &&
                  EVP_DigestVerify(context, raw(signature), signature.size(), raw(text), text.size()) == 1;
  EVP_MD_CTX_free(context);
  EVP_PKEY_free(half);
  return ok;
}

}  // namespace ace::spine
