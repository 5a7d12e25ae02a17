export { defaultLoadBalancerName } from './load-balancers.ts'
export type { LoadBalancers } from './load-balancers.ts'
export {
  DiskNotFound,
  ImplementedElsewhere,
  InstanceNotFound,
  NotImplemented,
  RetryLater,
  errorOfKind,
} from './errors.ts'
export type { InstanceMetadata, Instances, InstancesV2 } from './instances.ts'
export type { CloudProvider, ProviderSurroundings } from './provider.ts'
export { ProviderRegistry, cloudProviderErrors } from './registry.ts'
export type { ProviderFactory, ProviderSettings } from './registry.ts'
export type { Route, Routes } from './routes.ts'
export type { Clusters, Zone, Zones } from './zones.ts'
