// Where the batch cannot be followed, or would mean something else.
//
// RUN: braid-opt %s --tg-rebatch=factor=2 --split-input-file --verify-diagnostics

// expected-error @below {{no argument of 'f' has a batch: expected one with the tg.role tokens, targets, features or labels}}
func.func @f(%x: tensor<4x8xf32> {tg.input = "x"}) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

// -----

// expected-error @below {{arguments #0 of type 'tensor<4x8xf32>' and #1 of type 'tensor<6xi32>' disagree about the batch, their dim 0}}
func.func @f(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %y: tensor<6xi32> {tg.input = "y", tg.role = #tg.role<labels>}) {
  return
}

// -----

// expected-error @below {{argument #0 of type 'tensor<f32>' has a role with a batch, so its dim 0 must be the batch}}
func.func @f(%x: tensor<f32> {tg.input = "x", tg.role = #tg.role<features>}) {
  return
}

// -----

// expected-error @below {{the batch of 5 does not divide into 2 microbatches of equal size}}
func.func @f(%x: tensor<5x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<5x8xf32> {
  return %x : tensor<5x8xf32>
}

// -----

func.func @softmax(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<4xf32> {
  // expected-error @below {{'tg.softmax' mixes the examples of the batch of 4: it needs that dim whole; its operands are ('tensor<4xf32>') and its results ('tensor<4xf32>')}}
  %0 = tg.softmax %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @slice(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<2x8xf32> {
  // expected-error @below {{'tg.slice' mixes the examples of the batch of 4: it needs that dim whole; its operands are ('tensor<4x8xf32>') and its results ('tensor<2x8xf32>')}}
  %0 = tg.slice %x dim 0 offset 0 size 2 : tensor<4x8xf32> -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

func.func @similarity(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<4x4xf32> {
  // expected-error @below {{'tg.contract' mixes the examples of the batch: in 'tensor<4x4xf32>' the batch of 4 is both in dim 0 and in dim 1}}
  %0 = tg.contract "bd,cd->bc" %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @split(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<2x16xf32> {
  // expected-error @below {{'tg.reshape' splits the batch of 4: its operands are ('tensor<4x8xf32>') and its results ('tensor<2x16xf32>')}}
  %0 = tg.reshape %x : tensor<4x8xf32> -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
}

// -----

func.func @parameter(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %w: tensor<4x8xf32> {tg.param = #tg.param<"w", #tg.init<ones>>}) -> tensor<4x8xf32> {
  // expected-error @below {{argument #1 of type 'tensor<4x8xf32>' has the batch in dim 0 but is not an input; broadcast it over the batch instead}}
  %0 = arith.addf %x, %w : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @constant(%x: tensor<4xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<4xf32> {
  // expected-error @below {{'arith.constant' mixes the examples of the batch of 4: it needs that dim whole; its operands are () and its results ('tensor<4xf32>')}}
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = arith.addf %x, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @iota(%x: tensor<4xi32> {tg.input = "x", tg.role = #tg.role<tokens>}) -> tensor<4xi32> {
  // expected-error @below {{'tg.iota' mixes the examples of the batch of 4: its values depend on the position in the batch}}
  %i = tg.iota dim 0 : tensor<4xi32>
  %0 = arith.addi %x, %i : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @random(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %key: tensor<4xi32> {tg.input = "key", tg.role = #tg.role<key>}) -> tensor<8x4xf32> {
  %t = tg.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  // expected-error @below {{'tg.dropout' mixes the examples of the batch of 4: its values depend on the position, and the batch is not the first dim; its operands are ('tensor<8x4xf32>', 'tensor<4xi32>') and its results ('tensor<8x4xf32>')}}
  %0 = tg.dropout %t, %key rate 0.1 stream 0 : (tensor<8x4xf32>, tensor<4xi32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func @table(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %i: tensor<2xi32> {tg.input = "i"}) -> tensor<2x8xf32> {
  // expected-error @below {{'tg.gather' mixes the examples of the batch of 4: indices name the rows of its table; its operands are ('tensor<4x8xf32>', 'tensor<2xi32>') and its results ('tensor<2x8xf32>')}}
  %0 = tg.gather %x, %i : (tensor<4x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// -----

func.func @summed_table(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}, %i: tensor<2xi32> {tg.input = "i"}, %u: tensor<2x8xf32> {tg.input = "u"}) -> tensor<4x8xf32> {
  // expected-error @below {{'tg.scatter_add' mixes the examples of the batch of 4: indices name the rows of its table; its operands are ('tensor<2xi32>', 'tensor<2x8xf32>') and its results ('tensor<4x8xf32>')}}
  %s = tg.scatter_add %i, %u : (tensor<2xi32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %0 = arith.addf %x, %s : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @call(%x: tensor<4x8xf32> {tg.input = "x", tg.role = #tg.role<features>}) -> tensor<4x8xf32> {
  // expected-error @below {{'func.call' has no sharding rule, so the batch cannot be followed}}
  %0 = func.call @other(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @other(%x: tensor<4x8xf32>) -> tensor<4x8xf32>
