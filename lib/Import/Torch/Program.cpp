//===- Program.cpp - reads an exported program ----------------------------===//

#include "lib/Import/Torch/Paths.h"
#include "lib/Import/Torch/ProgramReader.h"
#include "lib/Input/ParserLimits.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace braid;
using namespace braid::torch;

/// The schema that this reader knows.
static constexpr int64_t kSchema = 8;

StringRef braid::torch::nameOf(ScalarType type) {
  static constexpr StringLiteral kNames[] = {"uint8",      "int8",    "int16",   "int32",     "int64",
                                             "float16",    "float32", "float64", "complex32", "complex64",
                                             "complex128", "bool",    "bfloat16"};
  return kNames[static_cast<int>(type) - 1];
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

const json::Object &Reader::object(const json::Value *value, StringRef what) {
  if (const json::Object *object = value ? value->getAsObject() : nullptr)
    return *object;
  fail(what + " is no JSON object");
  return noObject;
}

const json::Array &Reader::array(const json::Value *value, StringRef what) {
  if (const json::Array *array = value ? value->getAsArray() : nullptr)
    return *array;
  fail(what + " is no JSON array");
  return noArray;
}

StringRef Reader::text(const json::Object &object, StringRef key) {
  if (std::optional<StringRef> text = object.getString(key))
    return *text;
  fail("'" + key + "' is missing, or no text");
  return "";
}

int64_t Reader::integer(const json::Value &value, StringRef what) {
  if (std::optional<int64_t> integer = value.getAsInteger())
    return *integer;
  fail(what + " is no integer");
  return 0;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Reads the last frame outside of PyTorch: lines `File "PATH", line N, in NAME`, outermost first.
void Reader::readPlace(const json::Object &metadata, Call &call) {
  // "L__self__,,Net;L__self___h_0,h.0,Block": the innermost module is last, its path second.
  StringRef modules = metadata.getString("nn_module_stack").value_or("");
  call.module = modules.rsplit(';').second.split(',').second.split(',').first.str();
  if (!modules.contains(';'))
    call.module = modules.split(',').second.split(',').first.str();
  SmallVector<StringRef> lines;
  metadata.getString("stack_trace").value_or("").split(lines, '\n');
  for (StringRef line : lines) {
    line = line.ltrim();
    if (!line.consume_front("File \""))
      continue;
    auto [file, rest] = line.split("\", line ");
    int64_t number = 0;
    if (file.contains("/torch/") || rest.consumeInteger(10, number))
      continue;
    call.file = file.str();
    call.line = number;
  }
}

void Reader::readResults(const json::Array &outputs, Call &call) {
  auto define = [&](StringRef local) {
    std::string name = prefix + local.str();
    if (!program.tensors.contains(name))
      return fail("tensor '" + name + "' has no type");
    if (!defined.insert(name).second)
      return fail("tensor '" + name + "' is defined twice");
    if (!prefix.empty())
      renamed[local] = name;
    call.results.push_back(name);
  };
  for (const json::Value &output : outputs) {
    const json::Object &result = object(&output, "a result");
    if (const json::Value *one = result.get("as_tensor")) {
      define(text(object(one, "a result"), "name"));
    } else if (const json::Value *several = result.get("as_tensors")) {
      for (const json::Value &each : array(several, "a list of results"))
        define(text(object(&each, "a result"), "name"));
    } else if (!result.get("as_none")) {
      fail("a result of " + call.op + " is no tensor");
    }
  }
}

void Reader::readCall(const json::Object &node) {
  Call call;
  StringRef target = text(node, "target");
  target.consume_front("torch.ops.");
  call.op = target.str();
  readPlace(object(node.get("metadata"), "'metadata' of a call"), call);
  if (readRegion(node, call))
    return;
  if (StringRef(call.op).starts_with("higher_order."))
    return fail(call.file + ":" + Twine(call.line) + ": " + call.op +
                " has graphs of its own; control flow that depends on values is not supported");
  for (const json::Value &value : array(node.get("inputs"), "'inputs' of a call")) {
    const json::Object &input = object(&value, "an input of a call");
    call.arguments.emplace_back(text(input, "name").str(), readArgument(object(input.get("arg"), "an argument")));
  }
  readResults(array(node.get("outputs"), "'outputs' of a call"), call);
  convertOperands(call);
  program.calls.push_back(std::move(call));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void Reader::readInput(const json::Object &spec) {
  if (spec.size() != 1)
    return fail("an input has " + Twine(spec.size()) + " kinds instead of one");
  StringRef kind = spec.begin()->first;
  // Python values that the export has bound, such as use_cache=False.
  std::string path = inputsRead < inputPaths.size() ? inputPaths[inputsRead] : "";
  if (kind == "constant_input") {
    ++inputsRead;
    return;
  }
  const json::Object &body = object(&spec.begin()->second, "an input");
  const json::Object &argument = object(body.get("arg"), "an input's 'arg'");
  if (kind == "user_input") {
    const json::Value *tensor = argument.get("as_tensor");
    if (!tensor)
      return fail("an input is no tensor, but a Python value; bind it before the export, as in functools.partial");
    std::string name = text(object(tensor, "an input"), "name").str();
    program.inputs.push_back({Input::Kind::User, name, path.empty() ? name : path});
    ++inputsRead;
  } else if (kind == "parameter") {
    program.inputs.push_back(
        {Input::Kind::Parameter, text(argument, "name").str(), text(body, "parameter_name").str()});
  } else if (kind == "buffer") {
    program.inputs.push_back({Input::Kind::Buffer, text(argument, "name").str(), text(body, "buffer_name").str()});
  } else if (kind == "tensor_constant") {
    program.inputs.push_back(
        {Input::Kind::Constant, text(argument, "name").str(), text(body, "tensor_constant_name").str()});
  } else {
    return fail("inputs of kind '" + kind + "' are not supported");
  }
  StringRef name = program.inputs.back().name;
  if (!program.tensors.contains(name))
    fail("input '" + name + "' has no type");
  if (!defined.insert(name).second)
    fail("input '" + name + "' is defined twice");
  if (!targets.insert(program.inputs.back().target).second)
    fail("two inputs or tensors of the state_dict are named '" + program.inputs.back().target + "'");
}

void Reader::readOutput(const json::Object &spec) {
  if (spec.size() != 1)
    return fail("an output has " + Twine(spec.size()) + " kinds instead of one");
  StringRef kind = spec.begin()->first;
  const json::Object &body = object(&spec.begin()->second, "an output");
  const json::Object &argument = object(body.get("arg"), "an output's 'arg'");
  if (kind == "buffer_mutation") {
    use(text(argument, "name"));
    program.outputs.push_back(
        {Output::Kind::BufferMutation, text(argument, "name").str(), text(body, "buffer_name").str()});
  } else if (kind == "user_output" || kind == "loss_output") {
    std::string path = outputsRead < outputPaths.size() ? outputPaths[outputsRead] : "";
    ++outputsRead;
    const json::Object &inner = argument.get("as_tensor") ? object(argument.get("as_tensor"), "an output") : argument;
    if (inner.get("as_none"))
      return;
    use(text(inner, "name"));
    program.outputs.push_back(
        {kind == "loss_output" ? Output::Kind::Loss : Output::Kind::User, text(inner, "name").str(), path});
  } else {
    fail("outputs of kind '" + kind + "' are not supported");
  }
}

void Reader::readSchema(const json::Object &root) {
  const json::Object &version = object(root.get("schema_version"), "'schema_version'");
  int64_t major = version.getInteger("major").value_or(0);
  program.torchVersion = root.getString("torch_version").value_or("unknown").str();
  if (major != kSchema)
    fail("the schema of torch.export is " + Twine(major) + " (torch " + program.torchVersion + "), and " +
         Twine(kSchema) + " is read here: export with torch 2.10 or later");
}

/// Reads the names of inputs and outputs in Python. An export of other versions may lack them.
void Reader::readNames(const json::Object &module) {
  const json::Array *calls = module.getArray("module_call_graph");
  const json::Object *root = calls && !calls->empty() ? calls->front().getAsObject() : nullptr;
  const json::Object *signature = root ? root->getObject("signature") : nullptr;
  if (!signature)
    return;
  std::vector<std::string> arguments;
  if (const json::Array *names = signature->getArray("forward_arg_names"))
    for (const json::Value &name : *names)
      arguments.push_back(name.getAsString().value_or("").str());
  inputPaths = pathsOf(signature->getString("in_spec").value_or(""), arguments, /*isInputs=*/true);
  outputPaths = pathsOf(signature->getString("out_spec").value_or(""), {}, /*isInputs=*/false);
}

void Reader::readGraph(const json::Object &module) {
  const json::Object &graph = object(module.get("graph"), "'graph'");
  const json::Object &signature = object(module.get("signature"), "'signature'");
  for (const auto &[name, meta] : object(graph.get("tensor_values"), "'tensor_values'"))
    program.tensors.try_emplace(StringRef(name), readType(object(&meta, "a tensor's type"), StringRef(name)));
  readNames(module);
  for (const json::Value &spec : array(signature.get("input_specs"), "'input_specs'"))
    readInput(object(&spec, "an input"));
  for (const json::Value &node : array(graph.get("nodes"), "'nodes'"))
    readCall(object(&node, "a call"));
  for (const json::Value &spec : array(signature.get("output_specs"), "'output_specs'"))
    readOutput(object(&spec, "an output"));
}

bool StoredTensor::isRowMajor() const {
  int64_t expected = 1;
  for (auto [size, stride] : reverse(zip_equal(type.shape, strides))) {
    if (size > 1 && stride != expected)
      return false;
    expected *= size;
  }
  return offset == 0;
}

/// Reads where the elements of a tensor are in its entry.
StoredTensor Reader::readPlaceOfTensor(const json::Object &meta, StringRef name, std::string entry) {
  StoredTensor stored{std::move(entry), readType(meta, name), {}, 0};
  auto number = [&](const json::Value *value) {
    std::optional<int64_t> given = object(value, "a stride or an offset").getInteger("as_int");
    if (!given || *given < 0)
      fail("tensor '" + name + "' has a stride or an offset that is no number of elements");
    return given.value_or(0);
  };
  stored.offset = number(meta.get("storage_offset"));
  for (const json::Value &stride : array(meta.get("strides"), "'strides'"))
    stored.strides.push_back(number(&stride));
  if (stored.strides.size() != stored.type.shape.size())
    fail("tensor '" + name + "' has " + Twine(stored.strides.size()) + " strides and " +
         Twine(stored.type.shape.size()) + " dims");
  return stored;
}

/// Reads the tables of weights and of constants.
void Reader::readWeights() {
  for (auto [table, folder] :
       {std::pair("_weights_config.json", "data/weights/"), std::pair("_constants_config.json", "data/constants/")}) {
    std::vector<std::string> found = archive.find(folder, table);
    if (found.empty())
      continue;
    Expected<std::string> contents = archive.read(found.front(), kMaxProgramBytes);
    if (!contents)
      return fail(toString(contents.takeError()));
    Expected<json::Value> root = parseJson(*contents);
    if (!root)
      return fail(found.front() + ":" + toString(root.takeError()));
    for (const auto &[key, value] : object(object(&*root, found.front()).get("config"), "'config'")) {
      StringRef name = key;
      const json::Object &entry = object(&value, "a weight");
      if (entry.getBoolean("use_pickle").value_or(false)) {
        fail("tensor '" + name +
             "' is pickled, and nothing is unpickled here: make it a plain tensor before the export");
        return;
      }
      program.weights.try_emplace(name, readPlaceOfTensor(object(entry.get("tensor_meta"), "a weight's type"), name,
                                                          folder + text(entry, "path_name").str()));
    }
  }
}

Expected<Program> Reader::read() {
  std::vector<std::string> models = archive.find("models/", ".json");
  if (models.size() != 1)
    return createStringError(archive.getPath() + ": has " + Twine(models.size()) +
                             " programs under models/, and one is read");
  Expected<std::string> contents = archive.read(models.front(), kMaxProgramBytes);
  if (!contents)
    return contents.takeError();
  Expected<json::Value> root = parseJson(*contents);
  if (!root)
    return createStringError(archive.getPath() + ": " + models.front() + ":" + toString(root.takeError()));
  const json::Object &program = object(&*root, models.front());
  readSchema(program);
  if (problem.empty())
    readGraph(object(program.get("graph_module"), "'graph_module'"));
  if (problem.empty())
    readWeights();
  if (!problem.empty())
    return createStringError(problem);
  return std::move(this->program);
}

Expected<Program> braid::torch::readProgram(const Archive &archive) { return Reader(archive).read(); }
