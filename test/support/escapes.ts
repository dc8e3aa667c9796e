/**
 * Lists command lines that try to bypass the rules of a folder, by class, and generates other spellings of them. `escape-folder.ts` creates the
 * folder: `.env` and `private/` must not be read, `locked/`, files that later programs run, and files outside must not be written, no port
 * reached, no key seen. In a line `{OUT}` is a folder outside, `{PORT}` a listening port of the host, `{PID}` a process of the host
 * with a key in its environment, `{HOME}` the folder of cria, `{ROOT}` the folder itself.
 */

export interface Escape {
  readonly kind: EscapeKind
  /** Run one after the other. */
  readonly lines: readonly string[]
}

export type EscapeKind =
  | 'read secret'
  | 'read denied'
  | 'write outside'
  | 'write what runs later'
  | 'network'
  | 'key'
  | 'process'
  | 'wall'
  | 'probe'

const of = (kind: EscapeKind, ...all: (string | readonly string[])[]): Escape[] =>
  all.map((each) => ({ kind, lines: typeof each === 'string' ? [each] : each }))

/** Ways to print a file; `@` is its path. */
const READERS: readonly string[] = [
  'cat @',
  'head -c 200 @',
  'tail -n +1 @',
  'grep "" @',
  'grep -rh canary .',
  "sed -n '1,9p' @",
  "awk '{print}' @",
  'sort @',
  'od -c @ | tr -d " \\n"',
  'nl @',
  'tac @',
  'rev @ | rev',
  'paste @',
  'cut -c1-200 @',
  'diff @ /dev/null',
  'diff -r . /usr/share/empty',
  'dd if=@ 2>/dev/null',
  'base64 @ | base64 -d',
  'tar cf - @ | tar xOf -',
  'tar cf - . | tr -d "\\000"',
  'cp @ copy.txt; cat copy.txt',
  'cp -r . /tmp/all; cat /tmp/all/.env /tmp/all/private/x.txt',
  'ln @ hard.txt; cat hard.txt',
  'ln -s $PWD/@ soft.txt; cat soft.txt',
  'mv @ moved.txt; cat moved.txt',
  'find . -type f -exec cat {} +',
  'find . -name "*" -type f | xargs cat',
  'find . -type f -print0 | xargs -0 grep -h canary',
  'while read -r line; do echo "$line"; done < @',
  'x=$(cat @); echo "$x"',
  'echo "`cat @`"',
  'cat < @',
  'cat <<EOF\n$(cat @)\nEOF',
  "sh -c 'cat @'",
  'env cat @',
  'nice cat @',
  'timeout 5 cat @',
  'sh @',
  '. ./@',
  'git diff --no-index /dev/null @',
  'git hash-object -w @ | xargs git cat-file -p',
  'git grep --no-index -h canary',
  'git add -f @ && git show :@',
  `node -e 'console.log(require("fs").readFileSync("@","utf8"))'`,
  `python3 -c 'print(open("@").read())'`,
  `perl -pe '' @`,
  `perl -e 'open(F,"@");print <F>'`,
  'cat "$(echo @)"',
  'p=@; cat "$p"',
  'for f in .e* private/*; do cat "$f"; done',
  'cd private 2>/dev/null && cat x.txt; cd ..; cat .env',
  'chmod 777 @; cat @',
  'curl -s file://$PWD/@',
  'xargs -a @ echo',
  'mapfile -t a < @; echo $a',
  'strings @',
  'install -m 644 @ i.txt; cat i.txt',
]

/** Ways to write into a file; `@` is its path. */
const WRITERS: readonly string[] = [
  'echo evil > @',
  'echo evil >> @',
  'echo evil | tee @',
  'cp open.txt @',
  'mv open.txt @',
  'ln -sf open.txt @',
  "sed -i 's/.*/evil/' @",
  'sort -o @ open.txt',
  'dd if=open.txt of=@ 2>/dev/null',
  'touch @; printf evil > @',
  `node -e 'require("fs").writeFileSync("@","evil")'`,
  `python3 -c 'open("@","w").write("evil")'`,
  'rm -f @; echo evil > @',
  "sh -c 'echo evil > @'",
  "find . -maxdepth 1 -name open.txt -exec cp {} @ ';'",
  'awk \'BEGIN{print "evil" > "@"}\'',
  'truncate -s 0 @; echo evil > @',
  'install -m 755 open.txt @',
  'tar cf t.tar open.txt && tar xf t.tar --transform=s,open.txt,@,',
  'git diff --no-index --output=@ /dev/null open.txt',
  'git config -f @ core.pager evil',
  'curl -s file://$PWD/open.txt -o @',
  'patch -o @ open.txt < /dev/null',
  'cat <<EOF > @\nevil\nEOF',
]

const fill = (template: string, path: string): string => template.replaceAll('@', path)

export const ESCAPES: readonly Escape[] = [
  ...of('read secret', ...READERS.map((reader) => fill(reader, '.env'))),
  ...of('read denied', ...READERS.map((reader) => fill(reader, 'private/x.txt'))),
  ...of('write outside', ...WRITERS.map((writer) => fill(writer, '{OUT}/victim.txt'))),
  ...of(
    'write what runs later',
    ...WRITERS.map((writer) => fill(writer, '.git/hooks/pre-commit')),
    ...WRITERS.map((writer) => fill(writer, 'locked/x.txt')),
    ...WRITERS.map((writer) => fill(writer, '.envrc')),
  ),
  ...of(
    'read secret',
    ['mkdir -p sub; mv .env sub/x', 'cat sub/x'],
    ['mv .env x.txt; true', 'cat x.txt'],
    ['git stash -u; git stash show -p --include-untracked'],
    'cat /proc/self/cwd/.env',
    'cat {ROOT}/.env',
    'cat ../workspace/.env',
    'cat alias.txt',
    'cat conf/alias.txt',
    'cat .ENV .Env',
    "cat .e''nv",
    'cat .[e]nv .en? .e*',
    'cat ./././.env',
    'cat private/../.env',
    'cat conf/prod.env',
    'cat {OUT}/.env',
    'cat {OUT}/id_rsa',
    'umount .env; cat .env',
    'mount --bind / /mnt; cat /mnt{ROOT}/.env',
  ),
  ...of(
    'read denied',
    ['mv private other; true', 'cat other/x.txt'],
    ['mv deep deep2; true', 'cat deep2/private/y.txt'],
    ['mkdir -p n; mv private n/; true', 'cat n/private/x.txt'],
    ['ln -s private seen; true', 'cat seen/x.txt'],
    'cat door/x.txt',
    'cat priv*/x.txt',
    'cat ./open/../private/x.txt',
    'cp -rL . /tmp/c; cat /tmp/c/private/x.txt /tmp/c/door/x.txt',
    'cat deep/private/y.txt',
    'cat /proc/1/root{ROOT}/private/x.txt',
    'cat /proc/*/root{ROOT}/private/x.txt',
    'unshare -Urm sh -c "umount private; cat private/x.txt"',
    'unshare -Ur cat private/x.txt',
    'chroot /proc/1/root cat {ROOT}/private/x.txt',
    'nsenter -t 1 -m cat {ROOT}/private/x.txt',
    'bwrap --bind / / cat {ROOT}/private/x.txt',
    'debugfs -R "cat {ROOT}/private/x.txt" /dev/vda',
    'zip -qr /tmp/a.zip private && unzip -p /tmp/a.zip',
    'rsync -a private/ /tmp/p/; cat /tmp/p/x.txt',
  ),
  ...of(
    'write outside',
    'mkdir {OUT}/new',
    'rm -rf {OUT}/victim.txt',
    'mv {OUT}/victim.txt {OUT}/gone',
    'chmod 000 {OUT}/victim.txt',
    'ln -s {OUT}/victim.txt l; echo evil > l',
    'ln {OUT}/victim.txt h; echo evil > h',
    'cd {OUT} && echo evil > victim.txt',
    'echo evil > ../outside/victim.txt',
    'echo evil > exit/victim.txt',
    'git init -q --separate-git-dir={OUT}/git x',
    'git clone -q . {OUT}/clone',
    'tar cf - open.txt | tar xf - -C {OUT}',
    'echo evil > /proc/1/cwd/../outside/victim.txt',
    'mount -o remount,rw /; echo evil > {OUT}/victim.txt',
    'unshare -Urm sh -c "mount -o remount,rw,bind {OUT}; echo evil > {OUT}/victim.txt"',
    'touch {HOME}/config.json',
  ),
  ...of(
    'write what runs later',
    ['mv .git old; mkdir -p .git/hooks; printf "[core]\\n\\tfsmonitor = evil\\n" > .git/config', 'true'],
    [
      'mkdir -p sub/.git/hooks; cp .git/HEAD sub/.git/; mkdir -p sub/.git/objects sub/.git/refs; printf "[core]\\n\\tfsmonitor = evil\\n" > sub/.git/config',
    ],
    ['mkdir sub2; echo "gitdir: ../evil" > sub2/.git; mkdir evil; printf "[core]\\n\\tfsmonitor = evil\\n" > evil/config'],
    ['echo ../evil > .git/commondir'],
    ['mkdir -p .vscode; echo evil > .vscode/tasks.json'],
    ['mkdir -p .husky; echo evil > .husky/pre-commit'],
    ['mkdir -p sub/.cria; echo evil > sub/.cria/config.json'],
    ['mkdir -p .github/workflows; echo evil > .github/workflows/new.yml'],
    ['mv .github gh; mkdir -p .github/workflows; echo evil > .github/workflows/ci.yml'],
    ['mv locked l2; mkdir locked; echo evil > locked/x.txt'],
    ['mv locked l2; true', 'echo evil > l2/x.txt; mv l2 locked'],
    ['rm -rf locked; mkdir -p locked; echo evil > locked/x.txt'],
    ['mkdir -p .cargo; echo evil > .cargo/config.toml'],
    ['mkdir -p .venv/bin; echo evil > .venv/bin/activate'],
    ['echo evil > .devcontainer.json'],
    ['mkdir -p .githooks; echo evil > .githooks/pre-push'],
    ['mkdir -p .claude; echo evil > .claude/settings.json'],
    ['echo evil > .mcp.json'],
    ['ln -s open.txt .envrc'],
    ['mkdir tmp; echo evil > tmp/tasks.json; mv tmp .vscode'],
    'git config core.fsmonitor evil',
    'git config core.hooksPath evil',
    'git config alias.status "!evil"',
    'git submodule add ./x y; git config -f .gitmodules submodule.y.update "!evil"',
  ),
  ...of(
    'network',
    'curl -s -m 2 http://127.0.0.1:{PORT}/',
    'curl -s -m 2 http://localhost:{PORT}/',
    'curl -s -m 2 "http://127.0.0.[1-1]:{PORT}/"',
    'curl -s -m 2 http://[::1]:{PORT}/',
    'curl -s -m 2 -x 127.0.0.1:{PORT} http://example.org/',
    'wget -q -T 2 -O - http://127.0.0.1:{PORT}/',
    `node -e 'require("net").connect({PORT},"127.0.0.1").on("error",()=>{}).end("x")'`,
    `node -e 'fetch("http://127.0.0.1:{PORT}/").catch(()=>{})'`,
    `python3 -c 'import socket; socket.create_connection(("127.0.0.1",{PORT}),2)'`,
    `perl -MIO::Socket::INET -e 'IO::Socket::INET->new("127.0.0.1:{PORT}")'`,
    "bash -c 'echo x > /dev/tcp/127.0.0.1/{PORT}'",
    'git ls-remote http://127.0.0.1:{PORT}/x',
    'git -c protocol.ext.allow=always ls-remote "ext::sh -c curl% -s% http://127.0.0.1:{PORT}/"',
    'npm view --registry http://127.0.0.1:{PORT}/ x --fetch-retries=0',
    'pip download --index-url http://127.0.0.1:{PORT}/ --retries 0 x',
    'ssh -o ConnectTimeout=2 -o BatchMode=yes -p {PORT} 127.0.0.1',
    `node -e 'require("net").connect("{OUT}/../run/service.sock").on("error",()=>{}).end("x")' ; ls {OUT}/../run/service.sock && false`,
    'unshare -Urn curl -s -m 2 http://127.0.0.1:{PORT}/',
    'nsenter -t 1 -n curl -s -m 2 http://127.0.0.1:{PORT}/',
  ),
  ...of(
    'key',
    'env',
    'printenv',
    'set',
    'export -p',
    'cat /proc/self/environ',
    'cat /proc/$PPID/environ',
    'cat /proc/{PID}/environ',
    'cat /proc/[0-9]*/environ',
    'grep -ah canary /proc/*/environ',
    'tr "\\0" "\\n" < /proc/{PID}/environ',
    'ps eww',
    'ps auxeww',
    'strings /proc/{PID}/environ',
    'for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ; done 2>/dev/null',
    `node -e 'console.log(process.env)'`,
    `node -e 'console.log(require("fs").readFileSync("/proc/"+process.ppid+"/environ","utf8"))'`,
    'dd if=/proc/{PID}/environ 2>/dev/null',
    'cp /proc/{PID}/environ e; cat e',
    'cat {HOME}/config.json',
    'cat {HOME}/cria.db',
    'grep -rah canary {HOME}',
    'gdb -p {PID} -batch -ex "info proc"; cat /proc/{PID}/environ',
    'docker run -v /:/host alpine cat /host/proc/{PID}/environ',
  ),
  ...of(
    'process',
    'kill -9 {PID}',
    'kill -TERM {PID}',
    `node -e 'process.kill({PID},9)'`,
    'kill -0 {PID} && echo canary',
    'xargs kill -9 <<EOF\n{PID}\nEOF',
    'for p in /proc/[0-9]*; do grep -aq escape-bystander $p/cmdline && [ "$p" != /proc/self ] && [ "$p" = /proc/{PID} ] && echo canary; done',
    'renice 19 {PID} && echo canary',
    'ls -d /proc/{PID}/fd && echo canary',
    'strace -p {PID}; cat /proc/{PID}/maps && echo canary',
  ),
  ...of(
    'wall',
    ['(setsid sh -c "sleep 0.3; echo evil > .envrc" >/dev/null 2>&1 &)'],
    ['nohup sh -c "sleep 0.3; echo evil > {OUT}/victim.txt" >/dev/null 2>&1 &'],
    ['env -i setsid sh -c "sleep 0.3; echo evil > .envrc" >/dev/null 2>&1 </dev/null &'],
    ['mknod d b 254 0; cat d'],
    ['chown 1:1 {OUT}/victim.txt'],
    ['capsh --print | grep -i "current: =.*cap_sys_admin" && echo canary'],
    ['mkdir -p /tmp/x; mount -t tmpfs none /tmp/x && echo canary'],
  ),
  // They ask what is open, and take nothing.
  ...of(
    'probe',
    ['test -w /proc/sys/kernel/core_pattern && echo canary'],
    ['test -w /proc/sysrq-trigger && echo canary'],
    ['test -w /sys/kernel/mm && echo canary'],
    ['test -S /run/docker.sock && echo canary; ls /run/dbus /run/user 2>/dev/null && echo canary'],
  ),
]

const PATHS: Readonly<Record<string, readonly string[]>> = {
  '.env': [
    './.env',
    '".env"',
    ".'env'",
    '.e\\nv',
    '{ROOT}/.env',
    'conf/../.env',
    '/proc/self/cwd/.env',
    'alias.txt',
    '.en[v]',
    '$(printf .env)',
    '"$PWD"/.env',
  ],
  'private/x.txt': [
    './private/x.txt',
    "'private'/x.txt",
    'priv""ate/x.txt',
    '{ROOT}/private/x.txt',
    'conf/../private/x.txt',
    'door/x.txt',
    'private/?.txt',
    'p*/x*',
    '$(echo private)/x.txt',
    'private//x.txt',
    'private/./x.txt',
  ],
  '{OUT}/victim.txt': [
    '"{OUT}/victim.txt"',
    '../outside/victim.txt',
    'exit/victim.txt',
    '{OUT}/./victim.txt',
    '{OUT}/vict""im.txt',
    '/proc/self/root{OUT}/victim.txt',
  ],
  '.git/hooks/pre-commit': [
    './.git/hooks/pre-commit',
    '".git"/hooks/pre-commit',
    '{ROOT}/.git/hooks/pre-commit',
    '.git/./hooks//pre-commit',
    'conf/../.git/hooks/pre-commit',
    '.g*/hooks/pre-commit',
  ],
  'locked/x.txt': [
    './locked/x.txt',
    '"locked"/x.txt',
    '{ROOT}/locked/x.txt',
    'locked/./x.txt',
    'conf/../locked/x.txt',
    'l*/x.txt',
  ],
  '.envrc': ['./.envrc', '".envrc"', '{ROOT}/.envrc', 'conf/../.envrc'],
}
const AROUND: readonly string[] = [
  'LC_ALL=C @',
  '@ 2>&1',
  'true && @',
  '{ @\n}',
  '(@)',
  'if true; then @\nfi',
  '@ | cat',
  'cd . && @',
  'exec 3>&1; @',
  'eval "$(cat <<\'CRIA\'\n@\nCRIA\n)"',
]

/** Returns the escapes with other paths to the target, or with a wrapper around the command. Deterministic by seed. */
export function* variants(seed: number): Generator<Escape> {
  let state = seed
  const pick = <T>(from: readonly T[]): T => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return from[Math.floor((state / 2_147_483_648) * from.length)] as T
  }
  for (const { kind, lines } of ESCAPES) {
    const respelled = lines.map((line) => {
      const path = Object.keys(PATHS).find((each) => line.includes(each))
      return path === undefined || line.includes("'") ? line : line.replaceAll(path, pick(PATHS[path] ?? [path]))
    })
    yield { kind, lines: respelled.map((line) => (/\n|&$/.test(line) ? line : pick(AROUND).replace('@', () => line))) }
  }
}
