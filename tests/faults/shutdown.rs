//! Power failure of a real file system: ext4 on a loop device is shut down without its journal while eight processes
//! append and others cut and gc. After remounting, everything acknowledged must exist. `power` uses our own model;
//! this test uses the kernel.

use super::Faults;
use super::chance::Chance;
use super::check::shown;
use super::place::{CONVO, Place, run as run_command};
use super::report::Tally;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Creates a file system in `img`, mounts it, waits `$2` seconds, shuts it down (FS_IOC_SHUTDOWN with
/// FSOP_GOING_FLAGS_NOLOGFLUSH, from the kernel's `include/uapi/linux/fs.h`), and checks it. Only acknowledgments
/// before the shutdown count: processes continue, unlike on a power failure, and a sync that races with the shutdown
/// succeeds in this kernel without writing. 77: not permitted here.
const SCRIPT: &str = r#"
program=$1 delay=$2
truncate -s 32M img && mkfs.ext4 -q -F img && mkdir -p m && mount -o loop img m || exit 77
CONVO_STORE=$PWD/m/store; export CONVO_STORE
"$program" new --id chat > /dev/null; : > acknowledged
for writer in 1 2 3 4 5 6 7 8; do
    (i=0
    while role=user; [ $((i % 2)) = 1 ] && role=assistant
        "$program" append chat -r $role "writer $writer message $i" 2> /dev/null; do
        echo "writer $writer message $i" >> acknowledged
        i=$((i + 1))
    done) &
done
(while "$program" truncate chat --keep-last 1 -q && "$program" gc -q; do :; done) 2> /dev/null &
sleep "$delay"
python3 -c 'import fcntl, os, struct
folder = os.open("m", os.O_RDONLY)
known = open("acknowledged").read()
fcntl.ioctl(folder, 0x8004587D, struct.pack("I", 2))
open("known", "w").write(known)' || exit 77
wait
umount m && mount -o loop img m || exit 77
cat m/store/sessions/chat.jsonl m/store/archive/chat.jsonl > all 2> /dev/null
while read -r text; do
    [ "$(grep -cF "\"$text\"" all)" -ge 1 ] || echo "lost: $text"
done < known
"$program" fsck -q > found; [ $? -le 1 ] || echo "fsck failed"
grep -vE 'torn-tail|unreadable|temporary' found
"$program" fsck --repair -q > found || { echo "not mended:"; cat found; }
"$program" append chat after || echo "the next append failed"
echo "acknowledged $(wc -l < known)"
"#;

/// Why the test cannot run here.
fn missing() -> Option<&'static str> {
    let can = "mkfs.ext4 -V 2> /dev/null && python3 -c '' && truncate -s 4M /tmp/convo-loop.$$ \
        && mkfs.ext4 -q -F /tmp/convo-loop.$$ && mount -o loop /tmp/convo-loop.$$ /mnt; status=$?; \
        rm -f /tmp/convo-loop.$$; exit $status";
    let quiet = Command::new("unshare")
        .args(["-m", "sh", "-c", can])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let works = quiet.is_ok_and(|status| status.success());
    (!works).then_some("no right to mount a loop device, or no mkfs.ext4")
}

pub fn run(faults: &Faults, tally: &Tally) {
    if let Some(why) = missing() {
        return tally.skip(why);
    }
    let mut chance = Chance::new(faults.seed, "shutdown");
    let mut acknowledged = 0;
    for round in 0..if faults.long { 40 } else { 4 } {
        let place = Place::new();
        let delay = format!("0.{}", 2 + chance.below(6));
        let mut command = place.program("unshare");
        command.args(["-m", "sh", "-c", SCRIPT, "sh", CONVO, &delay]);
        command
            .env_remove("CONVO_SEED")
            .env_remove("CONVO_NOW")
            .current_dir(place.root());
        let outcome = run_command(command, b"", Duration::from_secs(60));
        if outcome.status == 77 {
            return tally.skip("the file system cannot be shut down");
        }
        let reported = String::from_utf8_lossy(&outcome.stdout).into_owned();
        let (last, wrong): (Vec<&str>, Vec<&str>) = reported
            .lines()
            .partition(|line| line.starts_with("acknowledged "));
        let count: usize = last
            .first()
            .and_then(|line| line.rsplit(' ').next()?.parse().ok())
            .unwrap_or(0);
        acknowledged += count;
        let verdict = if wrong.is_empty() && !last.is_empty() {
            Ok(())
        } else {
            Err(shown(&outcome))
        };
        tally.count(verdict, || format!("round {round}: shut down after {delay} s"));
    }
    if acknowledged < 20 {
        tally.bad(format!("{acknowledged} acknowledged messages prove nothing"));
    }
}
