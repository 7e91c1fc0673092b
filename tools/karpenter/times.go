package main

import (
	"time"

	"github.com/Azure/karpenter-provider-azure/pkg/providers/instance/offerings"
)

// shorten divides the times for which the provider does not ask again for what Azure refused.
func shorten(factor float64) {
	for _, period := range []*time.Duration{
		&offerings.LowQuotaTTL,
		&offerings.SubscriptionQuotaReachedTTL,
		&offerings.AllocationFailureTTL,
		&offerings.SKUNotAvailableSpotTTL,
		&offerings.SKUNotAvailableOnDemandTTL,
	} {
		*period = time.Duration(float64(*period) / factor)
	}
}
