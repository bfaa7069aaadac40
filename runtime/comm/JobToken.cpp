//===- JobToken.cpp - secret shared by the ranks of a job -----------------===//

#include "comm/JobToken.h"

#include "base/Error.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/random.h>
#ifndef BRAID_RT_WITHOUT_TOKENS
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#endif

using namespace braid;

#ifdef BRAID_RT_WITHOUT_TOKENS

std::string JobToken::mac(Parts) const {
  fail("ranks of several processes prove their job token by OpenSSL, which this program was built without: install "
       "libssl-dev and build it again without -DBRAID_RT_TOKENS=OFF, or run all ranks in one process by --ranks");
}

bool JobToken::isMac(std::string_view, Parts parts) const { return mac(parts).empty(); }

#else

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

#endif // BRAID_RT_WITHOUT_TOKENS

std::string braid::randomBytes(size_t count) {
  std::string bytes(count, '\0');
  if (getentropy(bytes.data(), count) != 0) // at most 256 bytes
    fail("the system has no random numbers: ", std::strerror(errno));
  return bytes;
}

std::string braid::hexOf(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes)
    for (unsigned digit : {byte / 16u, byte % 16u})
      text += "0123456789abcdef"[digit];
  return text;
}
