// Names that files cannot hold.
//
// RUN: braid-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{argument #0: the name of 'tg.param' is empty; choose another name}}
func.func @empty(%w: tensor<2xf32> {tg.param = #tg.param<"", #tg.init<ones>>}) {
  return
}

// -----

// expected-error @below {{argument #1: the name of 'tg.param' is reserved for metadata in safetensors files; choose another name}}
func.func @metadata(%x: tensor<2xf32>, %w: tensor<2xf32> {tg.param = #tg.param<"__metadata__", #tg.init<ones>>}) {
  return
}

// -----

// expected-error @below {{argument #0: the name of 'tg.input' contains a NUL; choose another name}}
func.func @nul(%x: tensor<2xf32> {tg.input = "a\00b"}) {
  return
}

// -----

// expected-error @below {{argument #0: the name of 'tg.state' is not UTF-8; choose another name}}
func.func @bytes(%s: tensor<2xf32> {tg.state = #tg.state<"a\FF", #tg.init<zeros>, kind = running_statistic>}) {
  return
}
