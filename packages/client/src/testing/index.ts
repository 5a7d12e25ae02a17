export {
  eventStream,
  fakeTransport,
  jsonAnswer,
  statusAnswer,
  textAnswer,
  watchBytes,
} from './fake-transport.ts'
export type { Answer, FakeTransport } from './fake-transport.ts'
