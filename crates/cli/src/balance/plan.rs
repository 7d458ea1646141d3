//! The next step towards an even load, from what was measured. Nothing here talks to a database.
//!
//! A shard moves from the busiest node to the quietest one if that lowers the load of the busiest. A partition that is a
//! large part of its node's load first gets a shard of its own: then the others of its shard can move away from it, and it can
//! move without them.

use std::collections::BTreeMap;

/// Below this load of all nodes together nothing is moved: the measurement would be noise.
pub(super) const LOAD_MIN: f64 = 20.0;
/// A partition is hot from this part of the load of an average node on.
const HOT_PART: f64 = 0.2;
/// A move must lower the load of the busiest node by this part of it: each one copies a shard.
const GAIN_MIN: f64 = 0.02;

/// The measured load of a cluster, in reads per second: a write counts as four.
#[derive(Debug, Clone, Default)]
pub(super) struct ClusterLoad {
    /// The nodes that may have shards.
    pub(super) nodes: Vec<String>,
    pub(super) shards: Vec<ShardLoad>,
    /// The hottest partitions that servers have seen.
    pub(super) partitions: Vec<PartitionLoad>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ShardLoad {
    pub(super) id: i64,
    pub(super) node: String,
    pub(super) load: f64,
    pub(super) bytes: u64,
    /// Whether it has one partition only.
    pub(super) is_isolated: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PartitionLoad {
    /// For people.
    pub(super) name: String,
    pub(super) shard: i64,
    pub(super) load: f64,
}

/// The next step.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Plan {
    /// There is too little load to judge.
    Idle,
    /// The nodes have about the same load.
    Balanced,
    /// Gives the partition with this place in the list a shard of its own.
    Isolate { place: usize },
    /// Moves a shard.
    Move { shard: i64, from: String, to: String },
    /// The nodes differ, and no step helps: one partition is the load.
    Stuck { node: String, shard: i64 },
}

impl ClusterLoad {
    /// Returns the load of each node, busiest first.
    pub(super) fn by_node(&self) -> Vec<(&str, f64)> {
        let mut nodes: BTreeMap<&str, f64> = self.nodes.iter().map(|node| (node.as_str(), 0.0)).collect();
        for shard in &self.shards {
            if let Some(load) = nodes.get_mut(shard.node.as_str()) {
                *load += shard.load;
            }
        }
        let mut nodes: Vec<_> = nodes.into_iter().collect();
        nodes.sort_by(|one, other| other.1.total_cmp(&one.1));
        nodes
    }

    /// Returns the next step. `tolerance` is the accepted ratio of the busiest node to the quietest one.
    pub(super) fn plan(&self, tolerance: f64) -> Plan {
        let nodes = self.by_node();
        let total: f64 = nodes.iter().map(|(_, load)| load).sum();
        if total < LOAD_MIN {
            return Plan::Idle;
        }
        let (Some(&(busiest, most)), Some(&(quietest, least))) = (nodes.first(), nodes.last()) else {
            return Plan::Idle;
        };
        if most <= least * tolerance || nodes.len() < 2 {
            return Plan::Balanced;
        }
        if let Some(place) = self.hot_partition(busiest, total / nodes.len() as f64) {
            return Plan::Isolate { place };
        }
        match self.best_move(busiest, most, least) {
            Some(shard) => Plan::Move { shard, from: busiest.to_owned(), to: quietest.to_owned() },
            None => {
                let on_busiest = self.shards.iter().filter(|shard| shard.node == busiest);
                let hottest = on_busiest.max_by(|one, other| one.load.total_cmp(&other.load));
                Plan::Stuck { node: busiest.to_owned(), shard: hottest.map_or(0, |shard| shard.id) }
            }
        }
    }

    /// The hottest partition of a node that shares its shard with others.
    fn hot_partition(&self, node: &str, average: f64) -> Option<usize> {
        let is_shared =
            |id: i64| self.shards.iter().any(|shard| shard.id == id && shard.node == node && !shard.is_isolated);
        let partitions = self.partitions.iter().enumerate();
        let hot = partitions.filter(|(_, hot)| hot.load >= average * HOT_PART && is_shared(hot.shard));
        hot.max_by(|one, other| one.1.load.total_cmp(&other.1.load)).map(|(place, _)| place)
    }

    /// The shard of the busiest node whose move leaves the least load on the busier one of the two; the smallest of equals.
    fn best_move(&self, busiest: &str, most: f64, least: f64) -> Option<i64> {
        let after = |shard: &ShardLoad| (most - shard.load).max(least + shard.load);
        let helps = |shard: &&ShardLoad| shard.node == busiest && after(shard) <= most * (1.0 - GAIN_MIN);
        let moves = self.shards.iter().filter(helps);
        let best =
            moves.min_by(|one, other| after(one).total_cmp(&after(other)).then_with(|| one.bytes.cmp(&other.bytes)));
        best.map(|shard| shard.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(id: i64, node: &str, load: f64) -> ShardLoad {
        ShardLoad { id, node: node.to_owned(), load, bytes: 1_000, is_isolated: false }
    }

    /// Nine shards of ten on three nodes.
    fn even() -> ClusterLoad {
        let nodes = ["a", "b", "c"];
        let shards = (0..9).map(|id| shard(id, nodes[id as usize % 3], 10.0)).collect();
        ClusterLoad { nodes: nodes.map(str::to_owned).to_vec(), shards, partitions: vec![] }
    }

    fn hot(name: &str, shard: i64, load: f64) -> PartitionLoad {
        PartitionLoad { name: name.to_owned(), shard, load }
    }

    /// Follows the plan as a database would, and returns the steps.
    fn follow(mut cluster: ClusterLoad) -> (Vec<Plan>, ClusterLoad) {
        let mut steps = vec![];
        loop {
            let plan = cluster.plan(1.3);
            match &plan {
                Plan::Isolate { place } => {
                    let hot = cluster.partitions[*place].clone();
                    let old = cluster.shards.iter_mut().find(|shard| shard.id == hot.shard).unwrap();
                    old.load -= hot.load;
                    let own = ShardLoad { id: old.id + 100, load: hot.load, is_isolated: true, ..old.clone() };
                    cluster.partitions[*place].shard = own.id;
                    cluster.shards.push(own);
                }
                Plan::Move { shard, from, to } => {
                    let moved = cluster.shards.iter_mut().find(|candidate| candidate.id == *shard).unwrap();
                    assert_eq!(moved.node, *from);
                    moved.node = to.clone();
                }
                Plan::Idle | Plan::Balanced | Plan::Stuck { .. } => {
                    steps.push(plan);
                    return (steps, cluster);
                }
            }
            steps.push(plan);
            assert!(steps.len() < 50, "it never ends: {steps:?}");
        }
    }

    #[test]
    fn an_even_load_and_no_load_are_left_alone() {
        assert_eq!(even().plan(1.3), Plan::Balanced);
        let mut idle = even();
        idle.shards.iter_mut().for_each(|shard| shard.load = if shard.node == "a" { 1.0 } else { 0.0 });
        assert_eq!(idle.plan(1.3), Plan::Idle);
        assert_eq!(ClusterLoad::default().plan(1.3), Plan::Idle);
        let alone = ClusterLoad { nodes: vec!["a".to_owned()], shards: vec![shard(1, "a", 100.0)], partitions: vec![] };
        assert_eq!(alone.plan(1.3), Plan::Balanced);
    }

    #[test]
    fn shards_move_to_a_new_node_until_it_has_its_share() {
        let mut cluster = even();
        cluster.nodes.push("d".to_owned());
        assert_eq!(cluster.plan(1.3), Plan::Move { shard: 0, from: "a".to_owned(), to: "d".to_owned() });
        let (steps, cluster) = follow(cluster);
        let loads: Vec<f64> = cluster.by_node().iter().map(|(_, load)| *load).collect();
        assert_eq!(loads, [30.0, 20.0, 20.0, 20.0]);
        assert!(matches!(steps.last(), Some(Plan::Stuck { .. })), "nine shards of ten cannot be even: {steps:?}");
    }

    #[test]
    fn of_two_hot_partitions_on_a_node_both_are_isolated_and_one_moves() {
        let mut cluster = even();
        for id in [0, 3] {
            cluster.shards[id].load += 40.0;
        }
        cluster.partitions = vec![hot("one", 0, 40.0), hot("two", 3, 40.0), hot("cold", 1, 0.5)];
        let (steps, cluster) = follow(cluster);
        assert!(matches!(steps[..2], [Plan::Isolate { .. }, Plan::Isolate { .. }]), "{steps:?}");
        assert!(matches!(steps[2], Plan::Move { shard: 100 | 103, .. }), "{steps:?}");
        let loads = cluster.by_node();
        assert!(loads[0].1 <= 60.0, "{loads:?}");
        let homes: Vec<&str> =
            cluster.shards.iter().filter(|shard| shard.is_isolated).map(|shard| shard.node.as_str()).collect();
        assert_ne!(homes[0], homes[1]);
    }

    #[test]
    fn others_move_away_from_a_partition_that_is_more_than_a_node_should_have() {
        let mut cluster = even();
        cluster.shards[0].load += 200.0;
        cluster.partitions = vec![hot("huge", 0, 200.0)];
        let (steps, cluster) = follow(cluster);
        assert_eq!(steps[0], Plan::Isolate { place: 0 });
        assert_eq!(cluster.by_node()[0].1, 200.0, "it is alone there");
        assert_eq!(steps.last(), Some(&Plan::Stuck { node: "a".to_owned(), shard: 100 }));
    }
}
