//===- Archive.cpp - the zip file that torch.export.save writes -----------===//

#include "lib/Import/Torch/Archive.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include <zip.h>

using namespace llvm;
using namespace braid::torch;

/// Upper limit of the number of entries.
static constexpr int64_t kMaxEntries = 1 << 20;
/// Bytes of a block that is read at once.
static constexpr size_t kBlockBytes = 1 << 20;

void Archive::Close::operator()(::zip *archive) const { zip_discard(archive); }

Error Archive::fail(const Twine &message) const { return createStringError(path + ": " + message); }

Expected<Archive> Archive::open(const std::string &path) {
  Archive archive;
  archive.path = path;
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(path, status))
    return archive.fail(code.message());
  if (status.type() != sys::fs::file_type::regular_file)
    return archive.fail("not a regular file");
  int code = 0;
  archive.archive.reset(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code));
  if (!archive.archive)
    return archive.fail("not a zip archive, as torch.export.save(program, FILE) writes");
  if (Error error = archive.list(status.getSize()))
    return error;
  return archive;
}

Error Archive::list(uint64_t fileBytes) {
  int64_t count = zip_get_num_entries(archive.get(), 0);
  if (count > kMaxEntries)
    return fail(Twine(count) + " entries, of which at most " + Twine(kMaxEntries) + " are read");
  uint64_t total = 0;
  for (int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    constexpr zip_uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive.get(), i, 0, &stat) || (stat.valid & kNeeded) != kNeeded)
      return fail("entry " + Twine(i) + " has no name or no size");
    if (stat.comp_method != ZIP_CM_STORE || stat.encryption_method != ZIP_EM_NONE)
      return fail(Twine("entry '") + stat.name + "' is compressed or encrypted; torch.export.save stores entries");
    // Sizes of stored entries add up to less than the file.
    if (stat.size > fileBytes - total)
      return fail(Twine("entry '") + stat.name + "' and those before it claim more bytes than the file's " +
                  Twine(fileBytes));
    total += stat.size;
    StringRef name = StringRef(stat.name).split('/').second;
    if (!entries.try_emplace(name, Entry{static_cast<uint64_t>(i), stat.size}).second)
      return fail(Twine("entry '") + stat.name + "' stands twice");
  }
  return Error::success();
}

std::vector<std::string> Archive::find(StringRef prefix, StringRef suffix) const {
  std::vector<std::string> found;
  for (const auto &entry : entries)
    if (entry.first().starts_with(prefix) && entry.first().ends_with(suffix))
      found.push_back(entry.first().str());
  llvm::sort(found);
  return found;
}

std::optional<uint64_t> Archive::sizeOf(StringRef name) const {
  auto found = entries.find(name);
  return found == entries.end() ? std::nullopt : std::optional(found->second.size);
}

Error Archive::stream(StringRef name, llvm::function_ref<Error(StringRef)> use) const {
  auto found = entries.find(name);
  if (found == entries.end())
    return fail("no entry '" + name + "'");
  zip_file_t *file = zip_fopen_index(archive.get(), found->second.index, 0);
  if (!file)
    return fail("cannot read entry '" + name + "'");
  std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> closed(file, zip_fclose);
  std::string block(std::min<uint64_t>(kBlockBytes, found->second.size), '\0');
  for (uint64_t done = 0; done < found->second.size;) {
    int64_t bytes = zip_fread(file, block.data(), block.size());
    if (bytes <= 0)
      return fail("entry '" + name + "' ends after " + Twine(done) + " of " + Twine(found->second.size) + " bytes");
    if (Error error = use(StringRef(block.data(), bytes)))
      return error;
    done += bytes;
  }
  return Error::success();
}

Expected<std::string> Archive::read(StringRef name, uint64_t maxBytes) const {
  std::optional<uint64_t> size = sizeOf(name);
  if (size && *size > maxBytes)
    return fail("entry '" + name + "' has " + Twine(*size) + " bytes, of which at most " + Twine(maxBytes) +
                " are read");
  std::string text;
  Error error = stream(name, [&](StringRef block) {
    text += block;
    return Error::success();
  });
  if (error)
    return error;
  return text;
}
