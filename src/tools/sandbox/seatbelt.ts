/**
 * The profile of `sandbox-exec` (macOS) for given walls. A later rule wins over an earlier one. Written from the public descriptions of the
 * language; it was never run, because no such machine was at hand.
 */

import type { Walls } from './walls.ts'

/** @param temporary real path of the folder that stands for `/tmp`, which cannot be another one here. */
export function seatbeltProfile({
  root,
  writable,
  readOnly,
  pinned,
  hiddenFiles,
  hiddenFolders,
  temporary,
  network,
}: Walls): string {
  const written = [root, ...writable, temporary, '/dev/null', '/dev/zero', '/dev/tty', '/dev/stdout', '/dev/stderr', '/dev/fd']
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    ...written.map((path) => `(allow file-write* (subpath ${quoted(path)}))`),
    ...readOnly.map((path) => `(deny file-write* (subpath ${quoted(path)}))`),
    // Moving a folder is to unlink it.
    ...pinned.map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
    ...hiddenFiles.map((path) => `(deny file-read* file-write* (literal ${quoted(path)}))`),
    ...hiddenFolders.map((path) => `(deny file-read* file-write* (subpath ${quoted(path)}))`),
    ...(network
      ? []
      : [
          '(deny network*)',
          '(allow network-bind network-inbound (local ip "localhost:*"))',
          '(allow network-outbound (remote ip "localhost:*"))',
        ]),
    // Other processes, and services that would act for the command.
    '(deny process-info* (target others))',
    '(deny signal (target others))',
    '(allow signal (target same-sandbox))',
    '(deny appleevent-send)',
    '(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd") (global-name "com.apple.securityd") (global-name "com.apple.SecurityServer") (global-name "com.apple.pasteboard.1"))',
    '(deny job-creation)',
  ].join('\n')
}

function quoted(path: string): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
