export { clientBuilder } from './identities/client-builder.ts'
export type {
  ClientBuilder,
  ClientBuilderOptions,
  ClientRate,
} from './identities/client-builder.ts'
export { isControllerEnabled, knownControllers, unknownItems } from './controller-names.ts'
export { cloudDescriptors, knownCloudControllers } from './cloud/cloud-controller-names.ts'
export { initialize as initializeProvider } from './cloud/initialize-provider.ts'
export { managerErrors } from './errors.ts'
export { runControllers } from './run-controllers.ts'
export type { RunControllersOptions } from './run-controllers.ts'
export { HealthChecks } from './serving/health.ts'
export { fencedTransport } from './election/fenced-transport.ts'
