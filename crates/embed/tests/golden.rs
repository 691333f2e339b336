//! The shipped table against its golden vectors, made by the reference in another language.

use std::path::PathBuf;

use cpersona_embed::StaticTable;

fn asset(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../assets/static-multilingual").join(name)
}

#[test]
fn ids_are_equal_and_vectors_within_two_millionths() {
    let table = StaticTable::open(&asset("static.ste")).unwrap();
    let golden = std::fs::read(asset("golden.json")).unwrap();
    let golden: Vec<serde_json::Value> = serde_json::from_slice(&golden).unwrap();
    assert_eq!(golden.len(), 20);
    for case in &golden {
        let text = case["text"].as_str().unwrap();
        let ids: Vec<u64> = table.encode(text).into_iter().map(u64::from).collect();
        let expected: Vec<u64> = numbers(&case["ids"]).map(|id| id as u64).collect();
        assert_eq!(ids, expected, "{text}");
        let mut row = vec![f32::NAN; table.dimension()];
        table.embed_into(text, &mut row);
        for (got, want) in row.iter().zip(numbers(&case["vector"])) {
            assert!((f64::from(*got) - want).abs() <= 2e-6, "{text}");
        }
    }
}

#[test]
fn the_centre_is_a_unit_vector() {
    let table = StaticTable::open(&asset("static.ste")).unwrap();
    let squares: f64 = table.centre().iter().map(|c| f64::from(*c).powi(2)).sum();
    assert!((squares - 1.0).abs() < 1e-5);
}

fn numbers(value: &serde_json::Value) -> impl Iterator<Item = f64> + '_ {
    let list = value.as_array().expect("golden.json holds lists");
    list.iter().map(|n| n.as_f64().expect("of numbers"))
}
