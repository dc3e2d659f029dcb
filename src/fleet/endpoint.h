#pragma once
/// How a provider is reached and spoken to. Values of the fleet file; only a gateway acts on them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ace {

/// The API of a provider.
enum class Api : std::uint8_t {
  none,          ///< not declared: it can be priced, not called
  openai,        ///< OpenAI, and whoever speaks as it does: vLLM, SGLang, TGI, llama.cpp, Ollama, Together, Groq...
  azure_openai,  ///< deployments
  anthropic,     ///< messages
  vertex,        ///< the OpenAI-compatible endpoint of Vertex AI
  bedrock,       ///< Anthropic's models behind AWS
};
inline constexpr std::size_t kApis = 6;
/// As in the fleet file: "azure-openai"; empty for none.
std::string_view name_of(Api api);

/// Where requests go: a URL without user, query and fragment.
struct Endpoint {
  bool tls = true;
  std::string host;  ///< a name or a plain address, without brackets
  std::uint16_t port = 443;
  std::string path{};          ///< "/openai/v1", without a slash at the end; empty = none
  bool allow_private = false;  ///< the operator means a private address
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Where a secret is found; never the secret.
struct SecretName {
  std::string env{}, file{};  ///< at most one of them
  [[nodiscard]] bool empty() const { return env.empty() && file.empty(); }
  friend bool operator==(const SecretName&, const SecretName&) = default;
};

}  // namespace ace
