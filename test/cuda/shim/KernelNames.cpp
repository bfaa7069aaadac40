//===- KernelNames.cpp - names of functions by address --------------------===//
//
// Reads the symbol table of the program's own file, because dladdr does not find local kernels.
//
//===----------------------------------------------------------------------===//
#include "KernelNames.h"

#include "Violation.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <map>
#include <mutex>
#include <string>
#include <vector>

using namespace shim;

namespace {

struct Names {
  std::mutex mutex;
  std::map<uint64_t, std::string> byValue; // of the file's functions
  uint64_t base = 0;                       // where the file lies in memory
  std::map<const void *, std::string> known;

  Names();
};

Names::Names() {
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *base) {
        *static_cast<uint64_t *>(base) = info->dlpi_addr;
        return 1; // the first is the program
      },
      &base);
  std::ifstream file("/proc/self/exe", std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  auto *header = reinterpret_cast<const Elf64_Ehdr *>(bytes.data());
  if (bytes.size() < sizeof(*header) || std::memcmp(header->e_ident, ELFMAG, SELFMAG))
    return;
  auto *sections = reinterpret_cast<const Elf64_Shdr *>(bytes.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB)
      continue;
    const char *strings = bytes.data() + sections[sections[i].sh_link].sh_offset;
    auto *symbols = reinterpret_cast<const Elf64_Sym *>(bytes.data() + sections[i].sh_offset);
    for (size_t s = 0; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s)
      if (ELF64_ST_TYPE(symbols[s].st_info) == STT_FUNC)
        byValue.emplace(symbols[s].st_value, strings + symbols[s].st_name);
  }
}

// "braid::k3_kernel(float const*, float*)" to "k3_kernel".
std::string shorten(std::string name) {
  int depth = 0;
  size_t end = name.size();
  for (size_t i = name.size(); i-- > 0;) { // the last parenthesis and its mate
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (name[i] == '(' && depth == 0) {
      end = i;
      break;
    }
  }
  name.resize(end);
  // Removes the return type of a template instance, then the namespaces before its arguments.
  size_t angle = name.find('<');
  for (const char *mark : {" ", "::"})
    if (size_t at = name.rfind(mark, angle); at != std::string::npos) {
      name = name.substr(at + std::strlen(mark));
      angle = name.find('<');
    }
  return name;
}

} // namespace

const char *shim::kernelName(const void *function) {
  static auto *names = new Names;
  std::lock_guard lock(names->mutex);
  auto [entry, isNew] = names->known.try_emplace(function);
  if (!isNew)
    return entry->second.c_str();
  auto found = names->byValue.find(reinterpret_cast<uint64_t>(function) - names->base);
  if (found == names->byValue.end()) {
    entry->second = format("kernel at %p", function);
    return entry->second.c_str();
  }
  int status = 0;
  char *text = abi::__cxa_demangle(found->second.c_str(), nullptr, nullptr, &status);
  entry->second = shorten(text ? text : found->second);
  std::free(text);
  return entry->second.c_str();
}
