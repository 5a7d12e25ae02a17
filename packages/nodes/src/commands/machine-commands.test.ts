import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from '../shell/input.ts'
import { runCommand } from '../shell/run-command.ts'
import { NodeMachine } from '../storage/node-machine.ts'
import { VolumeData, nodePlace } from '../storage/volume-data.ts'
import { placeWith } from './fixtures.ts'

/** A container that may enter the machine of node `n`, and the volumes of that node. */
function privileged(mayEnter = true) {
  const data = new VolumeData()
  const machine = new NodeMachine(data, 'n')
  const run = async (...words: readonly string[]): Promise<string> => {
    let all = ''
    const add = async (text: string | Uint8Array): Promise<void> =>
      void (all += typeof text === 'string' ? text : Buffer.from(text).toString())
    const files = new FileTree(new FileStore(), [])
    const place = { ...placeWith(files), ...(mayEnter && { machine }) }
    const streams = { stdin: inputOf(new Uint8Array(0)), out: add, err: add }
    const exitCode = await runCommand(words, streams, place, new Map())
    return exitCode === 0 ? all : `${all}(${exitCode})`
  }
  const host = (script: string) =>
    run('nsenter', '--mount=/rootfs/proc/1/ns/mnt', '--', 'sh', '-c', script)
  const volume = (path: string): FileStore => data.of(nodePlace('n', path))
  const text = (store: FileStore, path: string): string | undefined => {
    const found = store.get(path)
    return found instanceof Uint8Array ? Buffer.from(found).toString() : undefined
  }
  return { run, host, volume, text }
}

test('what is made on the machine is in the volume of that path, and the other way round', async () => {
  const { host, volume, text } = privileged()
  assert.equal(await host('mkdir -p /tmp/d/sub && echo a > /tmp/d/sub/f'), '')
  assert.equal(text(volume('/tmp/d/'), '/sub/f'), 'a\n')
  volume('/tmp/d').set('/g', Buffer.from('b\n'))
  assert.equal(await host('cat /tmp/d/sub/f /tmp/d/g; ls /tmp'), 'a\nb\nd\n')
  assert.equal(await host('rm -r /tmp/d; ls /tmp'), 'd\n')
  assert.equal(await host('ls /tmp; test -d /tmp/d'), '(1)')
  assert.equal(volume('/tmp/d').get('/g'), undefined)
})

test('what is taken away is gone, also from a folder that a pod has, and its room is free again', async () => {
  const { host, volume } = privileged()
  volume('/tmp').set('/own', Buffer.from('x'))
  const before = volume('/tmp').freeBytes
  const make = 'mkdir -p /tmp/d && dd if=/dev/zero of=/tmp/d/file bs=4096 count=5120 2>/dev/null'
  assert.equal(await host(make), '')
  assert.ok(volume('/tmp').freeBytes < before - 15 * 2 ** 20)
  assert.equal(await host('rm -r /tmp/d'), '')
  assert.equal(await host('ls /tmp'), 'own\n')
  assert.equal(volume('/tmp').freeBytes, before)
})

test('links and mounts show the same files at two paths, until one of them is taken away', async () => {
  const { host, volume, text } = privileged()
  assert.equal(await host('mkdir /tmp/b && mount --bind /tmp/b /tmp/b && ln -s /tmp/b /tmp/l'), '')
  volume('/tmp/l').set('/f', Buffer.from('x'))
  assert.equal(text(volume('/tmp/b'), '/f'), 'x')
  assert.equal(await host('rm /tmp/l && umount /tmp/b && cat /tmp/b/f'), 'x')
  assert.equal(
    await host('mkdir -p /tmp/t && echo 1 > /tmp/t/f && mount -t tmpfs -o size=10m tmpfs-x /tmp/t'),
    '',
  )
  assert.equal(volume('/tmp/t').get('/f'), undefined)
})

test('a file is a device until it is detached', async () => {
  const { host } = privileged()
  const make =
    'mkdir -p /tmp/k && dd if=/dev/zero of=/tmp/k/file bs=4 count=2 2>/dev/null && losetup -f /tmp/k/file'
  assert.equal(await host(make), '')
  const find = "losetup | grep /tmp/k/file | awk '{ print $1 }'"
  assert.equal(await host(find), '/dev/loop0\n')
  assert.equal(
    await host('mkfs -t ext4 /dev/loop0 && mount -t ext4 /dev/loop0 /tmp/k && chmod o+rwx /tmp/k'),
    '',
  )
  assert.equal(await host(`losetup -d /dev/loop0; ${find}`), '')
})

test('only who may enters, and only the first process', async () => {
  const { run } = privileged()
  assert.equal(await run('nsenter', '-t', '1', '-m', '-u', 'hostname'), 'p\n')
  assert.equal(await run('nsenter', '--target=1', '--mount', '--', 'echo', 'in'), 'in\n')
  assert.match(await run('nsenter', '-t', '7', '-m', 'ls'), /nsenter -t 1 -m -- COMMAND\n\(1\)$/)
  assert.equal(
    await privileged(false).host('ls'),
    'nsenter: reassociate to namespaces failed: Operation not permitted\n(1)',
  )
  assert.match(await privileged().host('mount; ln a b'), /not known to simulated machines/)
})
