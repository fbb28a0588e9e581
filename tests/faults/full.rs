//! Full disks: fills a small in-memory file system except for some pages or files, runs the command, frees space, and
//! runs it again.

use super::Faults;
use super::check::{Ending, shown};
use super::golden::Golden;
use super::place::{CONVO, Outcome, Place, run as run_command};
use super::report::Tally;
use super::scenario::Between;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How to get a private mount: as root, or with a user namespace.
const MOUNT_ARGUMENTS: [&[&str]; 2] = [&["-m"], &["-rm"]];

/// Remaining space: pages of content, and files.
const ROOM: [(usize, usize); 6] = [(0, 9), (1, 9), (2, 9), (9, 0), (9, 1), (9, 2)];

/// `$1`: program, `$2`: pages left, `$3`: files left, `$4`: how full, the rest: arguments. Results are stored next to
/// the mount, which is private and is removed with its last process.
const SCRIPT: &str = r#"
set -e
program=$1 pages=$2 inodes=$3; shift 3
mkdir disk
mount -t tmpfs -o size=512k,nr_inodes=64 tmpfs disk
cp -a before/. disk/
mkdir disk/filler
cat /dev/zero > disk/filler/bytes 2>/dev/null || true
number=0
while touch disk/filler/$number 2>/dev/null; do number=$((number + 1)); done
left=$inodes
while [ "$left" -gt 0 ] && [ "$number" -gt 0 ]; do
    number=$((number - 1)) left=$((left - 1))
    rm disk/filler/$number
done
size=$(stat -c %s disk/filler/bytes)
truncate -s $((size - pages * 4096)) disk/filler/bytes
cd disk/work
export CONVO_STORE=$PWD/../store HOME=$PWD/../home XDG_DATA_HOME=$PWD/../home/.local/share
set +e
"$program" "$@" < ../../input > ../../out 2> ../../err
echo $? > ../../status
cd ../..
mkdir after
for part in store work home; do [ -d disk/$part ] && cp -a disk/$part after/; done
rm -r disk/filler
cd disk/work
"$program" "$@" < ../../input > /dev/null 2> ../../err2
echo $? > ../../status2
cd ../..
mkdir repeated
for part in store work home; do [ -d disk/$part ] && cp -a disk/$part repeated/; done
umount disk
"#;

fn mount_arguments() -> Option<&'static [&'static str]> {
    MOUNT_ARGUMENTS.into_iter().find(|arguments| {
        let mut command = Command::new("unshare");
        command
            .args(*arguments)
            .args(["sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]);
        let quiet = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    })
}

pub fn run(faults: &Faults, tally: &Tally) {
    let Some(arguments) = mount_arguments() else {
        return tally.skip("no right to mount");
    };
    let jobs: Vec<_> = faults
        .goldens
        .iter()
        .flat_map(|golden| ROOM.map(|room| (golden, room)))
        .collect();
    faults.inject(&jobs, 40, |(golden, room)| {
        tally.count(one(golden, arguments, *room), || {
            format!(
                "{}: room for {} pages and {} files",
                golden.command(),
                room.0,
                room.1
            )
        });
    });
}

fn one(golden: &Golden, arguments: &[&str], (pages, files): (usize, usize)) -> Result<(), String> {
    let place = Place::new();
    let before = place.root().join("before");
    for part in super::place::PARTS {
        let from = golden.before.root().join(part);
        if from.is_dir() {
            super::place::copy_dir(&from, &before.join(part));
        }
    }
    place.write("input", golden.operation.input);
    let mut command = place.program("unshare");
    command.args(arguments).args(["sh", "-c", SCRIPT, "sh", CONVO]);
    command
        .args([pages.to_string(), files.to_string()])
        .args(golden.operation.arguments);
    command.current_dir(place.root());
    let ran = run_command(command, b"", Duration::from_secs(60));
    let read = |name: &str| std::fs::read(place.root().join(name)).unwrap_or_default();
    let status = |name: &str| String::from_utf8_lossy(&read(name)).trim().parse::<i32>();
    let (Ok(first), Ok(second)) = (status("status"), status("status2")) else {
        return Err(format!("the script failed\n{}", shown(&ran)));
    };
    let outcome = Outcome {
        status: first,
        stdout: read("out"),
        stderr: String::from_utf8_lossy(&read("err")).into_owned(),
    };
    golden.judge(
        &Place::copied(&place.root().join("after")),
        Some(&outcome),
        Ending::Ended,
        false,
    )?;
    let repeated = Place::copied(&place.root().join("repeated")).state();
    // 76: the change may have been made.
    let ends = golden.operation.status;
    let again = [ends, 76].contains(&first) && golden.operation.again.contains(&second);
    if second != ends && !again {
        let words = String::from_utf8_lossy(&read("err2")).into_owned();
        return Err(format!(
            "after {first} and with room again: status {second}\n{words}"
        ));
    }
    // A repeated append is stored twice, and a repeated stream is a new one.
    let sent = golden.operation.between == Between::Steps && !golden.operation.input.is_empty();
    if first != ends && second == ends && !sent && repeated.files != golden.new.files {
        return Err(format!(
            "after {first} and with room again it is not the new state"
        ));
    }
    Ok(())
}
