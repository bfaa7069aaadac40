//===- JobToken.h - secret shared by the ranks of a job -------------------===//
//
// Any process that knows the token is trusted as a rank. The token is never sent: each side proves that it
// knows the token with an HMAC-SHA-256 of random numbers from both sides.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_JOBTOKEN_H
#define BRAID_COMM_JOBTOKEN_H

#include <initializer_list>
#include <string>
#include <string_view>

namespace braid {

class JobToken {
public:
  static constexpr size_t macBytes = 32;
  using Parts = std::initializer_list<std::string_view>;

  JobToken() = default;
  explicit JobToken(std::string secret) : secret(std::move(secret)) {}
  bool isEmpty() const { return secret.empty(); }
  const std::string &text() const { return secret; }

  // Returns the MAC of the parts, each with its length, so different lists never encode to the same bytes.
  std::string mac(Parts parts) const;
  // Compares in constant time: the time does not depend on where the MACs differ.
  bool isMac(std::string_view mac, Parts parts) const;

private:
  std::string secret;
};

// Returns unpredictable bytes from the system.
std::string randomBytes(size_t count);
std::string hexOf(std::string_view bytes);

} // namespace braid
#endif // BRAID_COMM_JOBTOKEN_H
