import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from '../../files/file-store.ts'
import { FileTree } from '../../files/file-tree.ts'
import { inputOf } from '../../shell/input.ts'
import { runCommand } from '../../shell/run-command.ts'
import { AGNHOST_COMMANDS } from './agnhost-command.ts'

/** Run by user 1000 of group 100, with a writable `/v` that group 7 gives its files and a read-only `/conf` of the disk. */
async function said(
  flags: string,
  later: (atMs: number) => Readonly<Record<string, string>> = () => ({}),
): Promise<string> {
  let nowMs = 0
  let all = ''
  const add = async (text: string | Uint8Array): Promise<void> =>
    void (all += typeof text === 'string' ? text : Buffer.from(text).toString())
  const volume = new FileStore()
  volume.describe('', { mode: 0o3777, gid: 7 })
  const filesAt = (texts: Readonly<Record<string, string>>): FileTree => {
    const conf = new FileStore()
    for (const [path, text] of Object.entries(texts)) conf.set(path, Buffer.from(text))
    conf.describe('/key', { mode: 0o440, gid: 7 })
    return new FileTree(new FileStore(), [
      { path: '/v', store: volume, subPath: '', readOnly: false },
      { path: '/sub', store: volume, subPath: 'nosuch', readOnly: false },
      { path: '/conf', store: conf, subPath: '', readOnly: true, type: 'ext4' },
    ])
  }
  const place = {
    commands: AGNHOST_COMMANDS,
    files: filesAt({ '/key': 'value' }),
    filesNow: async () => filesAt(later(nowMs)),
    hostname: 'p',
    user: { uid: 1000, gid: 100, groups: [100] },
    program: '',
    nowMs: () => nowMs,
    sleep: async (delayMs: number) => void (nowMs += delayMs),
    yieldIfLong: () => undefined,
  }
  const streams = { stdin: inputOf(new Uint8Array(0)), out: add, err: add }
  const words = ['/agnhost', 'mounttest', ...flags.split(' ')]
  const exitCode = await runCommand(words, streams, place, new Map())
  return exitCode === 0 ? all : `${all}(${exitCode})`
}

for (const [flags, expected] of [
  ['--fs_type=/v', 'mount type of "/v": tmpfs\n'],
  ['--fs_type=/conf/key', 'mount type of "/conf/key": 61267\n'],
  ['--file_mode=/v', 'mode of file "/v": dgtrwxrwxrwx\n'],
  ['--file_mode=/sub', 'mode of file "/sub": dgtrwxrwxrwx\n'],
  ['--file_mode=/conf', 'mode of file "/conf": drwxr-xr-x\n'],
  ['--file_mode=/conf/key', 'mode of file "/conf/key": -r--r-----\n'],
  ['--file_perm=/v', 'perms of file "/v": -rwxrwxrwx\n'],
  ['--file_owner=/conf/key', 'owner UID of "/conf/key": 0\nowner GID of "/conf/key": 7\n'],
  ['--file_content=/conf/key', 'content of file "/conf/key": value\n'],
  ['--file_content=/conf/nosuch', 'error: open /conf/nosuch: no such file or directory\n(1)'],
  ['--new_file_0644=/conf/x', 'error: open /conf/x: read-only file system\n(1)'],
] as const)
  test(`mounttest ${flags}`, async () => {
    assert.equal(await said(flags), expected)
  })

test('it writes before it looks, with the mode in the name of the flag, as its user and in the group of the folder', async () => {
  for (const [mode, permissions] of [
    ['0644', 'rw-r--r--'],
    ['0660', 'rw-rw----'],
    ['0666', 'rw-rw-rw-'],
    ['0777', 'rwxrwxrwx'],
  ])
    assert.equal(
      await said(`--file_owner=/v/f --file_perm=/v/f --new_file_${mode}=/v/f`),
      'content of file "/v/f": mount-tester new file\n\n' +
        `perms of file "/v/f": -${permissions}\n` +
        'owner UID of "/v/f": 1000\nowner GID of "/v/f": 7\n',
    )
})

const read = (text: string): string => `content of file "/conf/key": ${text}\n`
const MISSING =
  'Error reading file /conf/key: open /conf/key: no such file or directory, retrying\n'

test('in a loop it sees what volumes show at each time, until its time is over', async () => {
  const later = (atMs: number): Record<string, string> =>
    atMs < 2_000 ? {} : { '/key': atMs < 6_000 ? 'one' : 'two' }
  assert.equal(
    await said('--file_content_in_loop=/conf/key --retry_time=10', later),
    MISSING + read('one') + read('one') + read('two') + read('two'),
  )
})

test('a loop ends early at the content of a new file, unless it shall not', async () => {
  const later = (): Record<string, string> => ({ '/key': 'mount-tester new file\n' })
  const once = read('mount-tester new file\n')
  const loop = '--file_content_in_loop=/conf/key --retry_time=4'
  assert.equal(await said(loop, later), once)
  assert.equal(await said(`${loop} --break_on_expected_content=false`, later), once + once)
})
