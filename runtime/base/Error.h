//===- Error.h - exceptions of the runtime --------------------------------===//
//
// One exception type for every error that the user can cause.  Its text is the whole message (what,
// where, both conflicting values, what to do), which br_main prints after "error: ".  Nothing may
// throw through generated code or the C ABI.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_BASE_ERROR_H
#define BRAID_BASE_ERROR_H

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace braid {

class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

// A failure of communication; its text already names the ranks.
class RankError : public Error {
public:
  using Error::Error;
};

namespace detail {
template <class T> std::string text(const T &part) {
  if constexpr (std::is_arithmetic_v<T>)
    return std::to_string(part);
  else
    return std::string(part);
}
} // namespace detail

// Concatenates the arguments as text.
template <class... Parts> std::string concat(Parts &&...parts) {
  std::string out;
  ((out += detail::text(std::forward<Parts>(parts))), ...);
  return out;
}

template <class... Parts> [[noreturn]] void fail(Parts &&...parts) {
  throw Error(concat(std::forward<Parts>(parts)...));
}

} // namespace braid
#endif // BRAID_BASE_ERROR_H
