// RUN: braid-opt %s --comm-propagate --split-input-file --verify-diagnostics

comm.mesh @mesh [dp = 2]

// One axis for two factors.
// expected-note @below {{argument #0 'x' is #comm.sharding<@mesh, {dp} {}>}}
func.func @twice(%x: tensor<4x8xf32> {tg.input = "x", comm.sharding = #comm.sharding<@mesh, {dp} {}>},
                 // expected-note @below {{argument #1 'w' is #comm.sharding<@mesh, {} {dp}>}}
                 %w: tensor<8x6xf32> {tg.param = #tg.param<"w", #tg.init<ones>>,
                                      comm.sharding = #comm.sharding<@mesh, {} {dp}>}) -> tensor<4x6xf32> {
  // expected-error @below {{has conflicting shardings: argument #0 'x' asks for {dp} on dim 0 of operand #0, but argument #1 'w' asks for {dp} on dim 1 of operand #1; give one of them a larger priority, or put a comm.constrain between}}
  %y = tg.contract "bd,df->bf" %x, %w : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

comm.mesh @mesh [dp = 2, tp = 2]

// Two axes for one factor; the sources are far from the op.
// expected-note @below {{argument #0 is #comm.sharding<@mesh, {dp}>}}
func.func @far(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>})
    -> (tensor<4xf32> {tg.role = #tg.role<logits>, comm.sharding = #comm.sharding<@mesh, {tp}>}) {
  %0 = math.exp %x : tensor<4xf32>
  // expected-error @below {{argument #0 asks for {dp} on dim 0 of operand #0, but result #0 (tg.role = #tg.role<logits>) asks for {tp} on dim 0 of result #0}}
  %1 = math.exp %0 : tensor<4xf32>
  %2 = math.exp %1 : tensor<4xf32>
  // expected-note @below {{result #0 (tg.role = #tg.role<logits>) is #comm.sharding<@mesh, {tp}>}}
  return %2 : tensor<4xf32>
}

// -----

comm.mesh @mesh [dp = 2]

// A flat order and a dim.
// expected-note @below {{argument #0 is}}
func.func @flat(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>},
                // expected-note @below {{argument #1 is}}
                %w: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp}>}) -> tensor<4xf32> {
  // expected-error @below {{asks for {dp} on dim 0 of operand #0, but argument #1 asks for {dp} on the flat order of operand #1}}
  %0 = arith.addf %x, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

comm.mesh @a [dp = 2]
comm.mesh @b [dp = 2]

// expected-note @below {{here is @a}}
func.func @meshes(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@a, {dp}>},
                  // expected-error @below {{a sharding names the mesh @b, but other shardings of the function name @a; use one mesh with all axes}}
                  %w: tensor<4xf32> {comm.sharding = #comm.sharding<@b, {dp}>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

comm.mesh @mesh [dp = 2]

// expected-error @below {{result #0 (tg.updates = "w") is #comm.sharding<@mesh, {}>, but argument #0 'w', which it updates in place, is #comm.sharding<@mesh, {dp}>; give both one sharding}}
func.func @updates(%w: tensor<4xf32> {tg.param = #tg.param<"w", #tg.init<ones>>, comm.sharding = #comm.sharding<@mesh, {dp}>})
    -> (tensor<4xf32> {tg.updates = "w", comm.sharding = #comm.sharding<@mesh, {}>}) {
  %0 = math.exp %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

comm.mesh @mesh [dp = 2]

// Collectives are of ranks' parts.
func.func @collective(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) -> tensor<4x8xf32> {
  // expected-error @below {{'comm.all_reduce' op belongs in the program of a rank (comm.program), but the function has shardings of whole tensors; use comm.constrain instead, or drop the shardings}}
  %y = comm.all_reduce sum %x over @mesh {dp} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

comm.mesh @mesh [dp = 2]

func.func @own_block(%x: tensor<4x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>}) -> tensor<2x8xf32> {
  // expected-error @below {{'comm.slice' op belongs in the program of a rank}}
  %y = comm.slice %x dim 0 over @mesh {dp} : tensor<4x8xf32> -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

comm.mesh @mesh [dp = 2]

func.func @scalar(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>}) -> (tensor<4xf32>, index) {
  // expected-error @below {{yields 'index', but functions with shardings may contain only ranked tensors}}
  %one = arith.constant 1 : index
  return %x, %one : tensor<4xf32>, index
}

// -----

comm.mesh @mesh [dp = 2]

// expected-error @below {{argument #1 is 'index', but functions with shardings may contain only ranked tensors}}
func.func @scalar_argument(%x: tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>}, %i: index) {
  return
}
