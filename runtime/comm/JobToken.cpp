//===- JobToken.cpp - the secret that the ranks of a job share ------------===//

#include "comm/JobToken.h"

#include "base/Error.h"

#include <cstdint>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

using namespace braid;

std::string JobToken::mac(Parts parts) const {
  std::string text;
  for (std::string_view part : parts) {
    uint64_t length = part.size();
    text.append(reinterpret_cast<const char *>(&length), sizeof length).append(part);
  }
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned bytes = 0;
  if (!HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
            reinterpret_cast<const unsigned char *>(text.data()), text.size(), out, &bytes) ||
      bytes != macBytes)
    fail("libcrypto cannot compute an HMAC-SHA-256, which ranks prove their job token by");
  return std::string(reinterpret_cast<char *>(out), bytes);
}

bool JobToken::isMac(std::string_view mac, Parts parts) const {
  return mac.size() == macBytes && CRYPTO_memcmp(mac.data(), this->mac(parts).data(), macBytes) == 0;
}

std::string braid::randomBytes(size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char *>(bytes.data()), static_cast<int>(count)) != 1)
    fail("libcrypto has no random numbers for the rendezvous of the ranks");
  return bytes;
}

std::string braid::hexOf(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes)
    for (unsigned digit : {byte / 16u, byte % 16u})
      text += "0123456789abcdef"[digit];
  return text;
}
