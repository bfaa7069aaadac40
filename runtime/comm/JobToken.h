//===- JobToken.h - the secret that the ranks of a job share --------------===//
//
// Whoever knows it is a rank.  It is never sent: a side proves that it knows the token by
// the HMAC-SHA-256 of what both sides have chosen at random.
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

  // Of the parts, each with its length: no two lists have the same.
  std::string mac(Parts parts) const;
  // In a time that does not depend on where they differ.
  bool isMac(std::string_view mac, Parts parts) const;

private:
  std::string secret;
};

// What nobody can guess.
std::string randomBytes(size_t count);
std::string hexOf(std::string_view bytes);

} // namespace braid
#endif // BRAID_COMM_JOBTOKEN_H
