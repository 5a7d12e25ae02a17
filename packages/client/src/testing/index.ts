export {
  eventStream,
  fakeTransport,
  jsonAnswer,
  statusAnswer,
  textAnswer,
  watchBytes,
} from './fake-transport.ts'
export type { Answer, FakeTransport } from './fake-transport.ts'
export { LoopbackServer } from '../http-transport/loopback-server.ts'
export { authority as loopbackAuthority } from '../http-transport/test-certificates.ts'
