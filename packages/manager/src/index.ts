export { clientBuilder } from './client-builder.ts'
export type { ClientBuilder, ClientBuilderOptions, ClientRate } from './client-builder.ts'
export {
  isControllerEnabled,
  knownControllers,
  missingControllers,
  refuseMissing,
  unknownItems,
} from './controller-names.ts'
export { cloudDescriptors, knownCloudControllers } from './cloud-controller-names.ts'
export { initialize as initializeProvider } from './initialize-provider.ts'
export { managerErrors } from './errors.ts'
export { runControllers } from './run-controllers.ts'
export type { RunControllersOptions } from './run-controllers.ts'
export { HealthChecks } from './serving/health.ts'
export { fencedTransport } from './fenced-transport.ts'
