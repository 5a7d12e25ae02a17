// Prints the bytes of heap that a stored pod takes, after a collection: `node --expose-gc load/stored-pod-memory.ts`.
import { createTestServer } from '@gyropilot/api-server/testing'
import { pod } from './objects.ts'

const PODS = 5000
const collect = (globalThis as { gc?: () => void }).gc
if (collect === undefined) throw new Error('needs --expose-gc')

const { request } = await createTestServer()
const path = '/api/v1/namespaces/default/pods'
const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
await request('POST', '/api/v1/namespaces/default/serviceaccounts', account)
const create = async (name: string): Promise<void> => {
  const { status, value } = await request('POST', path, JSON.parse(pod(name)))
  if (status !== 201) throw new Error(JSON.stringify(value))
}
await create('first')
const heapBytes = (): number => {
  collect()
  return process.memoryUsage().heapUsed
}
const before = heapBytes()
for (let n = 0; n < PODS; n++) await create(`pod-${n}`)
console.log(Math.round((heapBytes() - before) / PODS))
