// The order of messages along a whole table: who waits for whom, cell after cell.
//
// RUN: braid-opt %s --comm-verify-order --split-input-file --verify-diagnostics

// A cell without a table.
comm.mesh @mesh [pp = 2]
// expected-error @below {{is a cell of a pipeline, but the module has no comm.pipeline, whose table schedules it}}
func.func @forward_0() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

// No table.
comm.mesh @mesh [pp = 2]
// expected-error @below {{the table:1:1: }}
comm.pipeline over @mesh "pp" "none"
func.func @forward_0() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

// One whose ranks wait for each other.
comm.mesh @mesh [pp = 2]
// expected-error @below {{deadlock: rank 0 waits at 0B0 in step 1 for 1B0, which rank 1 runs in step 2}}
comm.pipeline over @mesh "pp" "0F0,0B0,0F1,0B1\0A1F0,1F1,1B0,1B1\0A"
func.func @forward_0() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

// A message without a function.
comm.mesh @mesh [pp = 2]
// expected-error @below {{has '0SEND_F0' in its table, but no function runs it; add one with comm.cell = #comm.cell<send_activation, 0>}}
comm.pipeline over @mesh "pp" "0F0,,,0B0\0A,1F0,1B0\0A"
func.func @forward_0() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

// Slots of a stage that is not there, and fewer than a stage holds microbatches.
comm.mesh @mesh [pp = 1]
comm.pipeline over @mesh "pp" "0F0,0F1,0B0,0B1\0A"
exec.slots @stage0_saved 2
// expected-error @below {{'stage1_saved' belongs to no stage of the table, which has 1}}
exec.slots @stage1_saved 2
func.func @forward_0() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @backward_0() attributes {comm.cell = #comm.cell<backward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

comm.mesh @mesh [pp = 1]
comm.pipeline over @mesh "pp" "0F0,0F1,0B0,0B1\0A"
// expected-error @below {{'stage0_saved' has 1, but the table needs 2}}
exec.slots @stage0_saved 1
func.func @forward_0() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @backward_0() attributes {comm.cell = #comm.cell<backward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

// A message that goes to a rank that does not wait for it.
comm.mesh @mesh [pp = 3]
// expected-note @below {{rank 2 runs this}}
comm.pipeline over @mesh "pp" "0F0,,,,,0B0\0A,1F0,,,1B0\0A,,2F0,2B0\0A"
func.func @forward_0() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @forward_1() attributes {comm.cell = #comm.cell<forward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @forward_2() attributes {comm.cell = #comm.cell<forward, 2>, comm.program = #comm.program<@mesh, pp = [2]>} {
  return
}
func.func @backward_0() attributes {comm.cell = #comm.cell<backward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @backward_1() attributes {comm.cell = #comm.cell<backward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @backward_2() attributes {comm.cell = #comm.cell<backward, 2>, comm.program = #comm.program<@mesh, pp = [2]>} {
  return
}
func.func @send_0(%x: tensor<4xf32>) attributes {comm.cell = #comm.cell<send_activation, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{deadlocks: rank 0 waits for send #0, but rank 2 has no recv from rank 0 over {pp} left}}
  comm.send %x to 2 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
func.func @receive_1() attributes {comm.cell = #comm.cell<receive_activation, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  %x = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  return
}
func.func @send_1(%x: tensor<4xf32>) attributes {comm.cell = #comm.cell<send_activation, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  comm.send %x to 2 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
func.func @receive_2() attributes {comm.cell = #comm.cell<receive_activation, 2>, comm.program = #comm.program<@mesh, pp = [2]>} {
  %x = comm.recv from 1 over @mesh {pp} : () -> tensor<4xf32>
  return
}
func.func @send_g1() attributes {comm.cell = #comm.cell<send_gradient, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @receive_g0() attributes {comm.cell = #comm.cell<receive_gradient, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @send_g2() attributes {comm.cell = #comm.cell<send_gradient, 2>, comm.program = #comm.program<@mesh, pp = [2]>} {
  return
}
func.func @receive_g1() attributes {comm.cell = #comm.cell<receive_gradient, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}

// -----

// A collective in a cell that only one stage's ranks run is theirs alone; one that needs the others waits for ever.
comm.mesh @mesh [pp = 2]
// expected-note @below {{rank 1 runs this}}
comm.pipeline over @mesh "pp" "0F0,,,0B0\0A,1F0,1B0\0A"
func.func @forward_0(%x: tensor<f32>) attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{deadlocks: rank 0 waits for all_reduce #0, but rank 1 has no collective over {pp} left}}
  %y = comm.all_reduce sum %x over @mesh {pp} : (tensor<f32>) -> tensor<f32>
  return
}
func.func @forward_1() attributes {comm.cell = #comm.cell<forward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @backward_0() attributes {comm.cell = #comm.cell<backward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @backward_1() attributes {comm.cell = #comm.cell<backward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @send_0(%x: tensor<4xf32>) attributes {comm.cell = #comm.cell<send_activation, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
func.func @receive_1() attributes {comm.cell = #comm.cell<receive_activation, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  %x = comm.recv from 0 over @mesh {pp} : () -> tensor<4xf32>
  return
}
func.func @send_1() attributes {comm.cell = #comm.cell<send_gradient, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @receive_0() attributes {comm.cell = #comm.cell<receive_gradient, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

// Two ends of a message that disagree about what is sent.
comm.mesh @mesh [pp = 2]
comm.pipeline over @mesh "pp" "0F0,,,0B0\0A,1F0,1B0\0A"
func.func @forward_0() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @forward_1() attributes {comm.cell = #comm.cell<forward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @backward_0() attributes {comm.cell = #comm.cell<backward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @backward_1() attributes {comm.cell = #comm.cell<backward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @send_0(%x: tensor<4xf32>) attributes {comm.cell = #comm.cell<send_activation, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{is not the same collective on ranks 0 and 1: tensor 0 is tensor<4xf32> on rank 0 and tensor<8xf32> on rank 1}}
  comm.send %x to 1 over @mesh {pp} : (tensor<4xf32>) -> ()
  return
}
func.func @receive_1() attributes {comm.cell = #comm.cell<receive_activation, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at recv #0 here}}
  %x = comm.recv from 0 over @mesh {pp} : () -> tensor<8xf32>
  return
}
func.func @send_1() attributes {comm.cell = #comm.cell<send_gradient, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @receive_0() attributes {comm.cell = #comm.cell<receive_gradient, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

// Two tensors of one type that change places on the way.
comm.mesh @mesh [pp = 2]
comm.pipeline over @mesh "pp" "0F0,,,0B0\0A,1F0,1B0\0A"
func.func @forward_0() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @forward_1() attributes {comm.cell = #comm.cell<forward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @backward_0() attributes {comm.cell = #comm.cell<backward, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
func.func @backward_1() attributes {comm.cell = #comm.cell<backward, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @send_0(%x: tensor<4xf32> {tg.state = #tg.state<"stage0_activation_out.0", #tg.init<zeros>, kind = message>}, %y: tensor<4xf32> {tg.state = #tg.state<"stage0_activation_out.1", #tg.init<zeros>, kind = message>})
    attributes {comm.cell = #comm.cell<send_activation, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  // expected-error @below {{the list of moved values ('comm.moved') is [7, 9, "0", "1"] on rank 0 and [7, 9, "1", "0"] on rank 1}}
  comm.send %x, %y to 1 over @mesh {pp} {comm.moved = [7, 9]} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}
func.func @receive_1(%a: tensor<4xf32> {tg.state = #tg.state<"stage1_activation_in.0", #tg.init<zeros>, kind = message>}, %b: tensor<4xf32> {tg.state = #tg.state<"stage1_activation_in.1", #tg.init<zeros>, kind = message>})
    -> (tensor<4xf32> {tg.updates = "stage1_activation_in.1"}, tensor<4xf32> {tg.updates = "stage1_activation_in.0"})
    attributes {comm.cell = #comm.cell<receive_activation, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  // expected-note @below {{rank 1 is at recv #0 here}}
  %x:2 = comm.recv from 0 over @mesh {pp} {comm.moved = [7, 9]} : () -> (tensor<4xf32>, tensor<4xf32>)
  return %x#0, %x#1 : tensor<4xf32>, tensor<4xf32>
}
func.func @send_1() attributes {comm.cell = #comm.cell<send_gradient, 1>, comm.program = #comm.program<@mesh, pp = [1]>} {
  return
}
func.func @receive_0() attributes {comm.cell = #comm.cell<receive_gradient, 0>, comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}
