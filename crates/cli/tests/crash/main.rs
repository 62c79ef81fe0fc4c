//! The crash matrix: five scripted runs of the real program, killed before and after every single event, and resumed; on the store of one
//! machine, and on a database that many machines share (`matrix::on_postgres`).
//!
//! The moment of death is chosen with the store's feature `failpoints`, which only the builds of tests have (`plain`).
//! A run is described in `runs`, what happens to it in `trial`, and what must be so afterwards in `checks`; `matrix` goes
//! through all moments, and `load` kills at any moment where several processes share one database.
//! Who else may touch a run that was killed is the business of `life`.

mod boards;
mod checks;
mod load;
mod matrix;
mod plain;
mod runs;
mod transfers;
mod trial;

use testkit::world::World;

/// A world for the program whose tests these are.
fn world(scenes: &[String]) -> World {
    World::new(env!("CARGO_BIN_EXE_majordomo"), scenes)
}
