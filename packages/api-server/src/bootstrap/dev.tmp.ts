import { parseArgs } from 'node:util'
import { SystemClock, SystemRandom, silentLogger } from '@gyropilot/foundation'
import { createApiServer } from '../server.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { createClusterCertificates } from '../tls/index.ts'
import { createAuthentication, createAuthorizer, ServiceAccountTokens } from '../auth/index.ts'
import { subresourceHandlers } from '../subresources/index.ts'
import { bootstrap } from './index.ts'
const t0 = performance.now()
const clock = new SystemClock(), random = new SystemRandom(), store = createMemoryStore(clock)
const { serving, serviceAccountKey, authority, frontProxyAuthority } = createClusterCertificates({ clock, random })
const t1 = performance.now()
const tokens = new Map([['T', { name: 'admin', uid: 'admin-uid', groups: ['system:masters', 'system:authenticated'], extra: {} }]])
const sat = new ServiceAccountTokens({ clock, random, store, key: serviceAccountKey })
const authorizer = createAuthorizer({ store })
const authentication = createAuthentication({ clock, store, serviceAccountTokens: sat, tokens })
const logger = { ...silentLogger, error: (e: unknown, m: string) => console.error(m, e), named: (): any => logger }
const server = createApiServer({ clock, random, logger, store, serviceAccountKey, clientAuthorityPem: authority.certificatePem, frontProxyAuthorityPem: frontProxyAuthority.certificatePem, tokens,
  subresources: subresourceHandlers({ clock, authentication, authorizer, serviceAccountTokens: sat }) })
const t2 = performance.now()
await bootstrap({ server: server.internals, clock, random, advertiseAddress: '127.0.0.1', securePort: 6443, clientAuthorityPem: authority.certificatePem, frontProxyAuthorityPem: frontProxyAuthority.certificatePem })
const t3 = performance.now()
await server.start()
const listener = await server.listen({ host: '127.0.0.1', port: 0, certificatePem: serving.certificatePem, keyPem: serving.privateKeyPem })
console.log(`https://127.0.0.1:${listener.port}`)
console.error({ tls: t1 - t0, make: t2 - t1, bootstrap: t3 - t2, rest: performance.now() - t3 })
setTimeout(() => process.exit(0), 60000)
