//! A guest that does what its arguments say, and tells how that went.
use std::io::{Read, Write};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let word = |n: usize| args.get(n).map(String::as_str).unwrap_or("");
    let number = |n: usize| word(n).parse::<usize>().unwrap();
    match word(1) {
        "args" => args.iter().for_each(|arg| println!("{arg:?}")),
        "env" => std::env::vars().for_each(|(name, value)| println!("{name}={value}")),
        "exit" => std::process::exit(word(2).parse().unwrap()),
        "trap" => std::process::abort(),
        "deep" => println!("{}", deep(1)),
        "loop" => loop { std::hint::black_box(0); },
        "cat" => {
            let mut buffer = [0; 4096];
            loop {
                let count = std::io::stdin().read(&mut buffer).unwrap();
                if count == 0 { break; }
                std::io::stdout().write_all(&buffer[..count]).unwrap();
                std::io::stdout().flush().unwrap();
            }
        }
        "big" => {
            let block = vec![b'x'; number(3)];
            let mut out = std::io::stdout().lock();
            for _ in 0..number(2) / number(3) { out.write_all(&block).unwrap(); }
            out.flush().unwrap();
            std::process::exit(3);
        }
        "memory" => {
            let block = vec![1u8; number(2) << 20];
            println!("{}", block.iter().map(|&byte| byte as usize).sum::<usize>() >> 20);
        }
        "sleep" => {
            let began = std::time::Instant::now();
            std::thread::sleep(std::time::Duration::from_millis(number(2) as u64));
            println!("{}", began.elapsed().as_millis() >= number(2) as u128);
        }
        "now" => println!("{}", std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()),
        "network" => told("connect", std::net::TcpStream::connect(word(2)).map(|_| ())),
        "files" => args[2..].iter().for_each(|step| file_step(step)),
        #[cfg(target_env = "p1")]
        "raw" => raw::run(&args[2..]),
        _ => println!("hello"),
    }
}

#[allow(unconditional_recursion)]
fn deep(n: u64) -> u64 { std::hint::black_box(n) + deep(n + 1) * 2 }

fn told<T: std::fmt::Debug>(what: &str, result: std::io::Result<T>) {
    match result {
        Ok(value) => println!("{what}: {value:?}"),
        Err(error) => println!("{what}: error {}", error.raw_os_error().map_or(format!("{:?}", error.kind()), |code| code.to_string())),
    }
}

/// `VERB:PATH[:MORE]`
fn file_step(step: &str) {
    let parts: Vec<&str> = step.splitn(3, ':').collect();
    let (path, more) = (parts[1], parts.get(2).copied().unwrap_or(""));
    use std::fs;
    match parts[0] {
        "read" => told(step, fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())),
        "write" => told(step, fs::write(path, more)),
        "append" => told(step, fs::OpenOptions::new().append(true).open(path).and_then(|mut file| file.write_all(more.as_bytes()))),
        "size" => told(step, fs::OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(more.parse().unwrap()))),
        "trunc" => told(step, fs::OpenOptions::new().write(true).truncate(true).open(path).map(|_| ())),
        "list" => told(step, fs::read_dir(path).and_then(|entries| {
            let mut names: Vec<String> = entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned())).collect::<Result<_, _>>()?;
            names.sort();
            Ok(names)
        })),
        "mkdir" => told(step, fs::create_dir(path)),
        "rmdir" => told(step, fs::remove_dir(path)),
        "unlink" => told(step, fs::remove_file(path)),
        "rename" => told(step, fs::rename(path, more)),
        "link" => told(step, fs::hard_link(path, more)),
        "readlink" => told(step, fs::read_link(path)),
        "stat" => told(step, fs::metadata(path).map(|data| (data.len(), data.is_dir(), data.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).map(|age| age.as_secs())))),
        "lstat" => told(step, fs::symlink_metadata(path).map(|data| data.file_type().is_symlink())),
        "times" => told(step, fs::OpenOptions::new().read(true).open(path).and_then(|file| file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(more.parse().unwrap())))),
        "sync" => told(step, fs::OpenOptions::new().read(true).open(path).and_then(|file| file.sync_all())),
        verb => panic!("{verb}"),
    }
}

/// Calls that Rust's own library does not make.
#[cfg(target_env = "p1")]
mod raw {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    extern "C" {
        fn path_open(fd: u32, dirflags: u32, path: *const u8, len: usize, oflags: u32, base: u64, inheriting: u64, fdflags: u32, opened: *mut u32) -> u32;
        fn path_symlink(target: *const u8, target_len: usize, fd: u32, path: *const u8, len: usize) -> u32;
        fn path_rename(fd: u32, path: *const u8, len: usize, new_fd: u32, new_path: *const u8, new_len: usize) -> u32;
        fn fd_read(fd: u32, iovs: *const [usize; 2], count: usize, read: *mut usize) -> u32;
        fn poll_oneoff(subscriptions: *const u8, events: *mut u8, count: usize, found: *mut usize) -> u32;
    }

    const READ: u64 = 2 | (1 << 14) | (1 << 18) | (1 << 21) | (1 << 13) | (1 << 24);

    fn open(fd: u32, path: &str, oflags: u32) -> Result<u32, u32> {
        let mut opened = 0;
        match unsafe { path_open(fd, 1, path.as_ptr(), path.len(), oflags, READ, READ, 0, &mut opened) } {
            0 => Ok(opened),
            code => Err(code),
        }
    }

    pub fn run(args: &[String]) {
        match args[0].as_str() {
            // Reads PATH below a directory that was opened, moved away, and replaced by a link to TARGET.
            "swapped" => {
                let inner = open(3, "d", 2).unwrap();
                println!("rename {}", unsafe { path_rename(3, "d".as_ptr(), 1, 3, "e".as_ptr(), 1) });
                println!("symlink {}", unsafe { path_symlink(args[1].as_ptr(), args[1].len(), 3, "d".as_ptr(), 1) });
                read(open(inner, &args[2], 0));
            }
            "open" => read(open(3, &args[1], 0)),
            // Whether stdin has something within so many milliseconds.
            "poll" => {
                let mut subscriptions = [0u8; 96];
                subscriptions[8] = 1;
                subscriptions[48..56].copy_from_slice(&1u64.to_le_bytes());
                subscriptions[56] = 0;
                subscriptions[64..68].copy_from_slice(&1u32.to_le_bytes());
                subscriptions[72..80].copy_from_slice(&(args[1].parse::<u64>().unwrap() * 1_000_000).to_le_bytes());
                let mut events = [0u8; 64];
                let mut found = 0;
                let code = unsafe { poll_oneoff(subscriptions.as_ptr(), events.as_mut_ptr(), 2, &mut found) };
                println!("poll {code} {found} {}", events[10]);
            }
            verb => panic!("{verb}"),
        }
    }

    fn read(file: Result<u32, u32>) {
        match file {
            Err(code) => println!("open error {code}"),
            Ok(fd) => {
                let mut buffer = [0u8; 64];
                let mut count = 0;
                let code = unsafe { fd_read(fd, &[buffer.as_mut_ptr() as usize, buffer.len()], 1, &mut count) };
                println!("read {code} {:?}", String::from_utf8_lossy(&buffer[..count]));
            }
        }
    }
}
