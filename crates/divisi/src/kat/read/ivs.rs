//! The IVs of GCM, and of modes that are built on it, in files of ACVP: given, drawn by the module that is
//! tested, or with a salt.

use super::member::bytes;
use serde_json::Value;

/// Fail if the tested module draws a value itself and the file does not contain that value: SP 800-38D, 8.2,
/// leaves the choice to the module, so that there is no answer to compare with.
pub(super) fn given(group: &Value, test: &Value, name: &str, by: &str) -> Result<(), String> {
    let drawn = [test, group].iter().find_map(|value| value.get(by)).and_then(Value::as_str);
    if drawn == Some("internal") && test.get(name).is_none() {
        let what = if name == "salt" { "a salt" } else { "an IV" };
        return Err(format!("{what} that the engine would have to draw"));
    }
    Ok(())
}

/// The IV of GCM.
pub(super) fn of_gcm(group: &Value, test: &Value) -> Result<Vec<u8>, String> {
    given(group, test, "iv", "ivGen")?;
    bytes(test, &["iv"])
}

/// The IV under which GCM runs with extended packet numbers (XPN; IEEE 802.1AEbw): the sum of the file's IV,
/// which has the numbers of a channel and of a packet, and of the key's salt, 96 bits each.
pub(super) fn of_xpn(group: &Value, test: &Value) -> Result<Vec<u8>, String> {
    given(group, test, "salt", "saltGen")?;
    let (iv, salt) = (of_gcm(group, test)?, bytes(test, &["salt"])?);
    if [iv.len(), salt.len()] != [12; 2] {
        return Err("an IV or a salt of another length than 96 bits, which XPN does not have".into());
    }
    Ok(iv.iter().zip(&salt).map(|(iv, salt)| iv ^ salt).collect())
}
