/// Their words and ours: providers, and keys that mean nothing here.
#include "adapters/litellm_parts.h"

namespace ace::litellm {
namespace {

constexpr Prefix kPrefixes[] = {
    {"openai", Api::openai, "https://api.openai.com/v1", "OPENAI_API_KEY"},
    {"text-completion-openai", Api::openai, "https://api.openai.com/v1", "OPENAI_API_KEY"},
    {"azure", Api::azure_openai, "", "AZURE_API_KEY"},
    {"anthropic", Api::anthropic, "https://api.anthropic.com", "ANTHROPIC_API_KEY"},
    {"bedrock", Api::bedrock, "", "AWS_SECRET_ACCESS_KEY"},
    {"vertex_ai", Api::vertex, "", "VERTEX_ACCESS_TOKEN"},
    {"gemini", Api::openai, "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"},
    {"groq", Api::openai, "https://api.groq.com/openai/v1", "GROQ_API_KEY"},
    {"together_ai", Api::openai, "https://api.together.xyz/v1", "TOGETHERAI_API_KEY"},
    {"mistral", Api::openai, "https://api.mistral.ai/v1", "MISTRAL_API_KEY"},
    {"deepseek", Api::openai, "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"},
    {"fireworks_ai", Api::openai, "https://api.fireworks.ai/inference/v1", "FIREWORKS_AI_API_KEY"},
    {"openrouter", Api::openai, "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"},
    {"xai", Api::openai, "https://api.x.ai/v1", "XAI_API_KEY"},
    {"cerebras", Api::openai, "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"},
    {"nvidia_nim", Api::openai, "https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"},
    {"hosted_vllm", Api::openai, "", ""},
    {"vllm", Api::openai, "", ""},
    {"openai_like", Api::openai, "", ""},
    {"custom_openai", Api::openai, "", ""},
    {"lm_studio", Api::openai, "", ""},
    {"llamafile", Api::openai, "", ""},
    {"ollama", Api::openai, "http://localhost:11434/v1", ""},
    {"ollama_chat", Api::openai, "http://localhost:11434/v1", ""},
};

/// Keys of litellm_params and model_info that a person may miss, and where to look instead.
struct Reason {
  std::string_view key, why;
};
constexpr Reason kReasons[] = {
    {"weight", "each request goes to the cheapest destination that can take it; there are no weights"},
    {"max_parallel_requests", "what a destination holds is bounded by rpm and tpm, and learnt"},
    {"timeout", "timeouts are those of the gateway: `timeouts` in ace.yaml"},
    {"stream_timeout", "timeouts are those of the gateway: `timeouts` in ace.yaml"},
    {"max_retries", "one budget of attempts for each request: `policies.attempts_max`"},
    {"cooldown_time", "failures move a destination's price, and trip it, by themselves"},
    {"tags", "who may go where is said by `tenants` and `compliance`"},
    {"silent_model", "to try a destination beside the traffic is mode `shadow` in ace.yaml"},
    {"access_groups", "which models a caller may use is said with its key"},
    {"team_id", "teams are declared under `tenants`"},
    {"ptu_shares", "a commitment is shared by all who may use it"},
    {"health_check_model", "health is learnt from the traffic; nothing is asked only to see if it answers"},
    {"health_check_max_tokens", "health is learnt from the traffic; nothing is asked only to see if it answers"},
    {"vertex_credentials", "name a variable or file with an access token instead: providers.P.key"},
};

}  // namespace

std::string_view reason_for(std::string_view key) {
  for (const Reason& r : kReasons)
    if (r.key == key) return r.why;
  if (key.starts_with("ptu_") || key == "ptu")
    return "declare the units as a destination of tier reserved: ptu: {units: 100, fee: \"260 USD/month/unit\"}";
  if (key.find("cost") != std::string_view::npos) return "write the row under `prices:` of the fleet file";
  return "no counterpart";
}

std::string plain_name(std::string_view text) {
  std::string out(text.substr(0, 200));
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("._-/:@+").find(c) != std::string_view::npos;
    if (!plain) c = '-';
  }
  return out;
}

const Prefix* prefix_of(std::string_view word) {
  for (const Prefix& p : kPrefixes)
    if (p.word == word) return &p;
  return nullptr;
}

}  // namespace ace::litellm
