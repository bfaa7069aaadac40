// Losses that microbatches do not add up to.
//
// RUN: braid-opt %s --tg-split-loss --split-input-file --verify-diagnostics

// expected-error @below {{'train' has no result with the role loss}}
func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %0 = tg.reduce mean %x dims [0] : tensor<4xf32> -> tensor<f32>
  // expected-error @below {{the loss, 'tensor<f32>', is not a tg.cross_entropy or a tg.reduce (mean or sum) to one number, but 'arith.mulf'; microbatches can only be accumulated for such a loss, or for such a mean plus other terms}}
  %1 = arith.mulf %0, %0 : tensor<f32>
  return %1 : tensor<f32>
}

// -----

func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  // expected-error @below {{the loss, 'tensor<f32>', is not a tg.cross_entropy or a tg.reduce (mean or sum) to one number, but 'tg.reduce'}}
  %0 = tg.reduce max %x dims [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @train(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<4xf32> {tg.role = #tg.role<loss>}) {
  // expected-error @below {{the loss, 'tensor<4xf32>', is not a tg.cross_entropy or a tg.reduce (mean or sum) to one number}}
  %0 = tg.reduce mean %x dims [1] : tensor<4x8xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{the loss, 'tensor<f32>', is not a tg.cross_entropy or a tg.reduce (mean or sum) to one number; microbatches can only be accumulated for such a loss, or for such a mean plus other terms}}
func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}, %l: tensor<f32> {tg.input = "l"}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  return %l : tensor<f32>
}

// -----

func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  // expected-error @below {{the loss reduces 'tensor<8xf32>' to 'tensor<f32>', which does not reduce the batch of 4}}
  %0 = tg.reduce mean %w dims [0] : tensor<8xf32> -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Every example is compared with the mean of its batch.
func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  // expected-error @below {{'tg.reduce' mixes the examples of the batch before the loss does: its operands are ('tensor<4xf32>') and its results ('tensor<f32>'); the loss of microbatches would not add up to the loss of the batch}}
  %0 = tg.reduce mean %x dims [0] : tensor<4xf32> -> tensor<f32>
  %1 = tg.broadcast %0 dims [] : tensor<f32> -> tensor<4xf32>
  %2 = arith.subf %x, %1 : tensor<4xf32>
  %3 = arith.mulf %2, %2 : tensor<4xf32>
  // expected-note @below {{the loss is computed here}}
  %4 = tg.reduce mean %3 dims [0] : tensor<4xf32> -> tensor<f32>
  return %4 : tensor<f32>
}

// -----

func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}, tensor<f32>) {
  // expected-error @below {{the loss is used by more than result #0; it cannot be accumulated over microbatches}}
  %0 = tg.reduce mean %x dims [0] : tensor<4xf32> -> tensor<f32>
  // expected-note @below {{used by 'math.exp'}}
  %1 = math.exp %0 : tensor<f32>
  // expected-note @below {{used by 'func.return'}}
  return %0, %1 : tensor<f32>, tensor<f32>
}

// -----

func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>})
    -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  %0 = tg.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32>
  %p = tg.reduce sum %w dims [0] : tensor<4xf32> -> tensor<f32>
  // expected-error @below {{adds a term to a loss that is a sum over the batch, so every microbatch would add the term again; make the loss a mean}}
  %1 = arith.addf %0, %p : tensor<f32>
  return %1 : tensor<f32>
}

// -----

// The mean is read for more than the loss.
func.func @train(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> (tensor<f32> {tg.role = #tg.role<loss>}) {
  // expected-error @below {{the loss is used by more than result #0; it cannot be accumulated over microbatches}}
  %0 = tg.reduce mean %x dims [0] : tensor<4xf32> -> tensor<f32>
  // expected-note @below {{used by 'math.exp'}}
  %1 = math.exp %0 : tensor<f32>
  // expected-note @below {{used by 'arith.addf'}}
  %2 = arith.addf %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}

// -----

// expected-error @below {{no function 'train' to split the loss of}}
module {
  func.func @eval(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) {
    return
  }
}
