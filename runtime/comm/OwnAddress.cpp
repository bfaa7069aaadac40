//===- OwnAddress.cpp - network address and identity of a host ------------===//

#include "comm/OwnAddress.h"

#include "base/Error.h"

#include <climits>
#include <fstream>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <optional>
#include <set>
#include <unistd.h>
#include <vector>

using namespace braid;

std::string braid::ownHost() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  char space[64] = {};
  if (readlink("/proc/self/ns/pid", space, sizeof(space) - 1) < 0)
    space[0] = '?';
  return concat(boot.empty() ? "?" : boot, "/", space);
}

static std::optional<std::string> textOf(const sockaddr *address) {
  bool isV4 = address && address->sa_family == AF_INET;
  if (!isV4 && (!address || address->sa_family != AF_INET6))
    return std::nullopt;
  // A link-local address is only valid together with its link.
  if (!isV4 && IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6 *>(address)->sin6_addr))
    return std::nullopt;
  char text[NI_MAXHOST];
  if (getnameinfo(address, isV4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6), text, sizeof text, nullptr, 0,
                  NI_NUMERICHOST) != 0)
    return std::nullopt;
  return text;
}

// Returns the addresses of interfaces that are up, except loopback, in order, IPv4 first.
static std::vector<std::string> interfaceAddresses() {
  std::vector<std::string> v4, others;
  ifaddrs *first = nullptr;
  if (getifaddrs(&first) != 0)
    return {};
  for (ifaddrs *each = first; each; each = each->ifa_next) {
    std::optional<std::string> text = textOf(each->ifa_addr);
    if (text && (each->ifa_flags & IFF_UP) && !(each->ifa_flags & IFF_LOOPBACK))
      (each->ifa_addr->sa_family == AF_INET ? v4 : others).push_back(*text);
  }
  freeifaddrs(first);
  v4.insert(v4.end(), others.begin(), others.end());
  return v4;
}

static std::set<std::string> addressesOfName() {
  char name[HOST_NAME_MAX + 1] = {};
  addrinfo hints = {}, *first = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (gethostname(name, HOST_NAME_MAX) != 0 || getaddrinfo(name, nullptr, &hints, &first) != 0)
    return {};
  std::set<std::string> texts;
  for (addrinfo *each = first; each; each = each->ai_next)
    if (std::optional<std::string> text = textOf(each->ai_addr))
      texts.insert(*text);
  freeaddrinfo(first);
  return texts;
}

std::string braid::ownAddress() {
  std::vector<std::string> candidates = interfaceAddresses();
  std::set<std::string> named = addressesOfName();
  for (const std::string &candidate : candidates)
    if (named.count(candidate))
      return candidate;
  return candidates.empty() ? "127.0.0.1" : candidates.front();
}
