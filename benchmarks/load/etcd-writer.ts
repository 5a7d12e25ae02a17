/**
 * Puts objects into the etcd of a kube-apiserver past it, as JSON, which it reads like its own protobuf: a cluster of 50,000 pods
 * with their statuses stands in seconds. Nothing is defaulted or checked: what is put must be what the server would have stored.
 */
import { setTimeout as pause } from 'node:timers/promises'

/** etcd's --max-txn-ops. */
const PUTS_AT_ONCE = 128
const TRIES = 3

export interface StoredObject {
  /** Below /registry/: `pods/default/a`. */
  readonly path: string
  readonly object: object
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** `etcd`: the address of its JSON gateway, such as http://127.0.0.1:2379. */
export async function putIntoEtcd(etcd: string, objects: Iterable<StoredObject>): Promise<void> {
  let puts: object[] = []
  for (const { path, object } of objects) {
    const requestPut = { key: base64(`/registry/${path}`), value: base64(JSON.stringify(object)) }
    puts.push({ requestPut })
    if (puts.length < PUTS_AT_ONCE) continue
    await put(etcd, puts)
    puts = []
  }
  if (puts.length > 0) await put(etcd, puts)
}

async function put(etcd: string, success: readonly object[]): Promise<void> {
  const body = JSON.stringify({ success })
  for (let tries = 1; ; tries++) {
    const answer = await fetch(`${etcd}/v3/kv/txn`, { method: 'POST', body })
    if (answer.ok) {
      await answer.arrayBuffer()
      return
    }
    if (tries >= TRIES) throw new Error(`etcd: ${answer.status} ${await answer.text()}`)
    await pause(100 * tries)
  }
}
