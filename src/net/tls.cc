#include "net/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstring>
#include <map>

#include "net/tls_stream.h"

namespace ace::net {
namespace {

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using Context = std::unique_ptr<SSL_CTX, FreeContext>;

constexpr unsigned char kAlpn[] = "\x08http/1.1";

std::string openssl_says() {
  char text[256] = "no reason given";
  if (const unsigned long code = ERR_get_error(); code != 0) ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

Context new_context(const SSL_METHOD* method) {
  Context context(SSL_CTX_new(method));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);
  return context;
}

int choose_alpn(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                unsigned offered_size, void*) {
  unsigned char* out = nullptr;
  if (SSL_select_next_proto(&out, size, kAlpn, sizeof kAlpn - 1, offered, offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = out;
  return SSL_TLSEXT_ERR_OK;
}

bool is_address(const std::string& host) {
  unsigned char bytes[16];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 || inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

struct TlsServer::State {
  Context context;
};

TlsServer::TlsServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsServer::~TlsServer() = default;

Result<std::shared_ptr<TlsServer>> TlsServer::load(const std::string& certificate, const std::string& key) {
  ERR_clear_error();
  Context context = new_context(TLS_server_method());
  SSL_CTX_set_options(context.get(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_alpn, nullptr);
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1)
    return Error(Errc::bad_input,
                 fmt::format("reading the certificate {}: expected a PEM file with the certificate and "
                             "its chain; {}",
                             certificate, openssl_says()));
  if (SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context.get()) != 1)
    return Error(Errc::bad_input, fmt::format("reading the key {}: expected a PEM file with the key of {}; {}", key,
                                              certificate, openssl_says()));
  auto state = std::make_unique<State>();
  state->context = std::move(context);
  return std::make_shared<TlsServer>(std::move(state));
}

Task<Io> TlsServer::accept(std::unique_ptr<Stream>& stream) {
  SSL* ssl = SSL_new(state_->context.get());
  SSL_set_accept_state(ssl);
  auto tls = std::make_unique<TlsStream>(std::move(stream), ssl);
  TlsStream& shaking = *tls;
  stream = std::move(tls);
  const Io io = co_await shaking.handshake();
  co_return io;
}

struct TlsClient::State {
  Context context;
  std::map<std::string, std::unique_ptr<SSL_SESSION, FreeSession>> sessions;  ///< the newest of each host
  std::uint64_t resumed = 0;
};

namespace {

/// Where a connection keeps the name of its host.
int host_index() {
  static const int index = SSL_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void*, void* host, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<std::string*>(host); });
  return index;
}

int keep_session(SSL* ssl, SSL_SESSION* session) {
  auto* state = static_cast<TlsClient::State*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const auto* host = static_cast<const std::string*>(SSL_get_ex_data(ssl, host_index()));
  if (state == nullptr || host == nullptr) return 0;
  state->sessions[*host].reset(session);
  return 1;  // the reference is ours now
}

}  // namespace

TlsClient::TlsClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsClient::~TlsClient() = default;
std::uint64_t TlsClient::resumed() const { return state_->resumed; }

Result<std::shared_ptr<TlsClient>> TlsClient::create(const std::string& authorities) {
  ERR_clear_error();
  auto state = std::make_unique<State>();
  state->context = new_context(TLS_client_method());
  SSL_CTX* context = state->context.get();
  const int trusted = authorities.empty() ? SSL_CTX_set_default_verify_paths(context)
                                          : SSL_CTX_load_verify_locations(context, authorities.c_str(), nullptr);
  if (trusted != 1)
    return Error(Errc::bad_input, fmt::format("reading the authorities {}: expected a PEM file of certificates; {}",
                                              authorities, openssl_says()));
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_alpn_protos(context, kAlpn, sizeof kAlpn - 1);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, keep_session);
  SSL_CTX_set_app_data(context, state.get());
  return std::make_shared<TlsClient>(std::move(state));
}

Task<Io> TlsClient::connect(std::unique_ptr<Stream>& stream, const std::string& host) {
  SSL* ssl = SSL_new(state_->context.get());
  SSL_set_connect_state(ssl);
  SSL_set_ex_data(ssl, host_index(), new std::string(host));
  bool ready = false;
  if (is_address(host)) {
    ready = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  } else {
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // The macro of the library casts its argument's const away; this is what it calls.
    ready =
        SSL_set1_host(ssl, host.c_str()) == 1 &&
        SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(host.c_str())) == 1;
  }
  if (const auto kept = state_->sessions.find(host); kept != state_->sessions.end())
    SSL_set_session(ssl, kept->second.get());
  auto tls = std::make_unique<TlsStream>(std::move(stream), ssl);
  TlsStream& shaking = *tls;
  stream = std::move(tls);
  if (!ready) co_return Io::failed;
  const Io io = co_await shaking.handshake();
  if (io == Io::ok && SSL_session_reused(ssl) == 1) ++state_->resumed;
  co_return io;
}

}  // namespace ace::net
