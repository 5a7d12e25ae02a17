/** A bare server for experiments: `node packages/api-server/src/testing/serve.ts --port 0 --token T [--data DIR]` prints its URL. */
import { parseArgs } from 'node:util'
import { SystemClock, SystemRandom, silentLogger } from '@gyropilot/foundation'
import { createApiServer } from '../server.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { createClusterCertificates } from '../tls/index.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    token: { type: 'string', default: 'admin' },
    data: { type: 'string' },
  },
})
const clock = new SystemClock()
const random = new SystemRandom()
const store =
  values.data === undefined
    ? createMemoryStore(clock)
    : (await import('../storage/sqlite-store.ts')).openSqliteStore({
        clock,
        directory: values.data,
      })
const { serving, serviceAccountKey, authority, frontProxyAuthority } = createClusterCertificates({
  clock,
  random,
})
const server = createApiServer({
  clock,
  random,
  logger: {
    ...silentLogger,
    error: (error, message) => console.error(message, error),
    named: (): typeof silentLogger => ({
      ...silentLogger,
      error: (error, message) => console.error(message, error),
    }),
  },
  store,
  serviceAccountKey,
  clientAuthorityPem: authority.certificatePem,
  frontProxyAuthorityPem: frontProxyAuthority.certificatePem,
  tokens: new Map([
    [
      values.token,
      {
        name: 'admin',
        uid: 'admin-uid',
        groups: ['system:masters', 'system:authenticated'],
        extra: {},
      },
    ],
  ]),
})
const listener = await server.listen({
  host: '127.0.0.1',
  port: Number(values.port),
  certificatePem: serving.certificatePem,
  keyPem: serving.privateKeyPem,
})
await server.start()
console.log(`https://127.0.0.1:${listener.port}`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void server.stop().then(() => store.close()))
}
