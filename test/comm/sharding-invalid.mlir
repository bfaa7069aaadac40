// Shardings, and what functions say about their arguments and results.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

// expected-note @below {{@mesh is defined here}}
comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{unknown comm.mesh @grid}}
func.func private @no_such_mesh(tensor<8xf32> {comm.sharding = #comm.sharding<@grid, {dp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{unknown mesh axis 'pp' (mesh: {dp = 2, tp = 4})}}
func.func private @unknown_axis(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {pp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{unknown mesh axis 'pp' (mesh: {dp = 2, tp = 4})}}
func.func private @unknown_partial_axis(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {dp}, partial sum {pp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{unknown mesh axis 'pp' (mesh: {dp = 2, tp = 4})}}
func.func private @unknown_flat_axis(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {dp}, flat {pp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{axis 'dp' is used twice in {dp, dp}}}
func.func private @twice_in_a_dim(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {dp, dp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{axis 'dp' is used twice in #comm.sharding<@mesh, {dp} {dp}>}}
func.func private @twice_in_dims(tensor<8x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {dp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{axis 'tp' is used twice in #comm.sharding<@mesh, {tp}, partial sum {tp}>}}
func.func private @twice_in_dim_and_partial(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {tp}, partial sum {tp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{axis 'tp' is used twice in #comm.sharding<@mesh, {}, partial sum {tp}, flat {tp}>}}
func.func private @twice_in_partial_and_flat(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {tp}, flat {tp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{dim 1 of size 6 does not divide into 4 equal blocks over {tp}; pad it with tg.pad, or shard the tensor flat}}
func.func private @does_not_divide(tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {tp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{dim 0 of size 12 does not divide into 8 equal blocks over {dp, tp}; pad it with tg.pad, or shard the tensor flat}}
func.func private @do_not_divide(tensor<12xf32> {comm.sharding = #comm.sharding<@mesh, {dp, tp}>})

// -----

comm.mesh @mesh [dp = 2, tp = 4]
// expected-error @below {{#comm.sharding<@mesh, {dp}> has 1 dims but the tensor 'tensor<8x6xf32>' has 2}}
func.func private @wrong_rank(tensor<8x6xf32> {comm.sharding = #comm.sharding<@mesh, {dp}>})

// -----

comm.mesh @mesh [dp = 2]
// expected-error @below {{'comm.sharding' must be #comm.sharding<...> on a tensor, found #comm.sharding<@mesh, {dp}> on 'i32'}}
func.func private @not_a_tensor(i32 {comm.sharding = #comm.sharding<@mesh, {dp}>})

// -----

// expected-error @below {{'comm.sharding' must be #comm.sharding<...> on a tensor, found "dp"}}
func.func private @not_a_sharding(tensor<8xf32> {comm.sharding = "dp"})

// -----

// expected-error @below {{unknown attribute 'comm.shard'; expected comm.sharding or comm.global}}
func.func private @unknown_attribute(tensor<8xf32> {comm.shard = "dp"})

// -----

// expected-error @below {{has the unknown attribute 'comm.shard'}}
func.func private @unknown_attribute() attributes {comm.shard = "dp"}

// -----

comm.mesh @mesh [dp = 2]
func.func @constrain(%x: tensor<7xf32>) {
  // expected-error @below {{dim 0 of size 7 does not divide into 2 equal blocks over {dp}; pad it with tg.pad, or shard the tensor flat}}
  %0 = comm.constrain %x <@mesh, {dp}> : tensor<7xf32>
  return
}

// -----

comm.mesh @mesh [dp = 2]
func.func @reshard(%x: tensor<8xf32>) {
  // expected-error @below {{unknown mesh axis 'tp' (mesh: {dp = 2})}}
  %0 = comm.reshard %x <@mesh, {tp}> : tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [dp = 2]
func.func @reshard(%x: tensor<8xf32>) {
  // expected-error @below {{has open axes in #comm.sharding<@mesh, {dp, ?}>, but a reshard needs the final sharding; drop the '?'}}
  %0 = comm.reshard %x <@mesh, {dp, ?}> : tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [dp = 2]
func.func @number_of_shardings(%x: tensor<8xf32>) {
  // expected-error @below {{'comm.shardings' must have a sharding for each of 1 results}}
  %0 = math.exp %x {comm.shardings = []} : tensor<8xf32>
  return
}

// -----

comm.mesh @mesh [dp = 2]
func.func @shardings_of_an_op(%x: tensor<7xf32>) {
  // expected-error @below {{dim 0 of size 7 does not divide into 2 equal blocks over {dp}; pad it with tg.pad, or shard the tensor flat}}
  %0 = math.exp %x {comm.shardings = [#comm.sharding<@mesh, {dp}>]} : tensor<7xf32>
  return
}

// -----

func.func @not_shardings(%x: tensor<7xf32>) {
  // expected-error @below {{'comm.shardings' holds 1 : i64 for a result of type 'tensor<7xf32>'}}
  %0 = math.exp %x {comm.shardings = [1]} : tensor<7xf32>
  return
}

//===----------------------------------------------------------------------===//
// Local functions
//===----------------------------------------------------------------------===//

// -----

comm.mesh @mesh [dp = 2]
// expected-error @below {{argument #0: the part of 'tensor<8x4xf32>' under #comm.sharding<@mesh, {dp} {}> is 'tensor<4x4xf32>', but the type is 'tensor<8x2xf32>'}}
func.func private @wrong_part(tensor<8x2xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>, comm.global = tensor<8x4xf32>})
    attributes {comm.program = #comm.program<@mesh>}

// -----

comm.mesh @mesh [dp = 2]
// expected-error @below {{result #0: the part of 'tensor<3x3xf32>' under #comm.sharding<@mesh, {} {}, flat {dp}> is 'tensor<5xf32>', but the type is 'tensor<4xf32>'}}
func.func private @wrong_flat_part()
    -> (tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {} {}, flat {dp}>, comm.global = tensor<3x3xf32>})
    attributes {comm.program = #comm.program<@mesh>}

// -----

comm.mesh @mesh [dp = 2]
// expected-error @below {{argument #0: the part of 'tensor<8xf32>' under #comm.sharding<@mesh, {dp}> is 'tensor<4xf32>', but the type is 'tensor<4xbf16>'}}
func.func private @wrong_elements(tensor<4xbf16> {comm.sharding = #comm.sharding<@mesh, {dp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>}

// -----

comm.mesh @mesh [dp = 2]
// expected-error @below {{argument #0: has open axes in #comm.sharding<@mesh, {dp, ?}>, but the function is a rank's program; drop the '?'}}
func.func private @open_part(tensor<4xf32> {comm.sharding = #comm.sharding<@mesh, {dp, ?}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>}

// -----

// expected-error @below {{has 'comm.global' in a function without 'comm.program'}}
func.func private @global_without_program(tensor<4xf32> {comm.global = tensor<8xf32>})

// -----

comm.mesh @mesh [dp = 2]
// expected-error @below {{'comm.global' must be a tensor type, found f32}}
func.func private @global_of_no_tensor(tensor<4xf32> {comm.global = f32}) attributes {comm.program = #comm.program<@mesh>}

// -----

comm.mesh @mesh [dp = 2]
// expected-error @below {{argument #0: has no 'comm.sharding', so its type must be the whole tensor 'tensor<8xf32>', but is 'tensor<4xf32>'}}
func.func private @global_without_sharding(tensor<4xf32> {comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>}

// -----

comm.mesh @mesh [dp = 2]
comm.mesh @other [dp = 2]
// expected-error @below {{argument #0: is sharded over @other, but the function is a program on @mesh}}
func.func private @other_mesh(tensor<4xf32> {comm.sharding = #comm.sharding<@other, {dp}>, comm.global = tensor<8xf32>})
    attributes {comm.program = #comm.program<@mesh>}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

// -----

// expected-error @below {{unknown comm.mesh @mesh}}
func.func private @program_without_mesh() attributes {comm.program = #comm.program<@mesh>}

// -----

comm.mesh @mesh [pp = 2]
// expected-error @below {{'comm.program' names the axis 'dp', which is not in the mesh {pp = 2}}}
func.func private @program_of_unknown_axis() attributes {comm.program = #comm.program<@mesh, dp = [0]>}

// -----

comm.mesh @mesh [pp = 2]
// expected-error @below {{'comm.program' names coordinate 2 of axis 'pp' in the mesh {pp = 2}}}
func.func private @program_of_no_rank() attributes {comm.program = #comm.program<@mesh, pp = [2]>}

// -----

comm.mesh @mesh [pp = 2]
// expected-error @below {{'comm.program' names coordinate 1 twice}}
func.func private @program_twice() attributes {comm.program = #comm.program<@mesh, pp = [1, 1]>}

// -----

comm.mesh @mesh [pp = 2]
// expected-error @below {{'comm.program' names no coordinate of axis 'pp'}}
func.func private @program_of_nobody() attributes {comm.program = #comm.program<@mesh, pp = []>}

// -----

// expected-error @below {{'comm.program' must be #comm.program<...>, found "all"}}
func.func private @not_a_program() attributes {comm.program = "all"}

// -----

comm.mesh @mesh [pp = 2]
func.func @program_of_an_op(%x: tensor<8xf32>) {
  // expected-error @below {{has 'comm.program', which belongs on a function}}
  %0 = math.exp %x {comm.program = #comm.program<@mesh>} : tensor<8xf32>
  return
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

// -----

// expected-error @below {{expected axes, partial, flat or priority, found 'replicated'}}
func.func private @unknown_part(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, replicated>})

// -----

// expected-error @below {{unknown reduction 'product'; expected sum, mean, max or min}}
func.func private @unknown_reduction(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial product {dp}>})

// -----

// expected-error @below {{expected '}' after '?'}}
func.func private @after_open(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {?, dp}>})

// -----

// expected-error @below {{the axes of partial and flat cannot be open; drop the '?'}}
func.func private @open_partial(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, partial sum {dp, ?}>})

// -----

// expected-error @below {{the axes of partial and flat cannot be open; drop the '?'}}
func.func private @open_flat(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {?}>})

// -----

// expected-error @below {{the priority -1 is negative}}
func.func private @negative_priority(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, priority -1>})

// -----

// expected-error @below {{flat is given twice; leave one of them out}}
func.func private @flat_twice(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {}, flat {dp}, flat {tp}>})

// -----

// expected-error @below {{invalid kind of attribute specified}}
func.func private @mesh_is_no_symbol(tensor<8xf32> {comm.sharding = #comm.sharding<"mesh", {}>})

// -----

// expected-error @below {{expected valid keyword}}
func.func private @axis_is_a_string(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {"dp"}>})

// -----

// expected-error @below {{expected '>'}}
func.func private @not_closed(tensor<8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} x>})

// -----

// expected-error @below {{expected '='}}
func.func private @program_without_coordinates() attributes {comm.program = #comm.program<@mesh, pp>}

// -----

comm.mesh @mesh [dp = 2]

// expected-error @below {{argument #0: 'tensor<?x8xf32>' is sharded by #comm.sharding<@mesh, {dp} {}>, but its sizes are not all known}}
func.func private @unknown_size(tensor<?x8xf32> {comm.sharding = #comm.sharding<@mesh, {dp} {}>})

// -----

comm.mesh @mesh [dp = 2]

// expected-error @below {{'comm.entry' is a string on a function that 'comm.program' gives to some ranks, found "train"}}
func.func private @entry_of_all_ranks() attributes {comm.entry = "train", comm.program = #comm.program<@mesh>}
